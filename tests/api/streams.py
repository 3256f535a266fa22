"""A client of server-sent events, as a browser is one."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from tests.api.conftest import Served


@dataclass
class Told:
    """One event."""

    name: str
    data: Any
    id: str | None


@contextmanager
def stream(served: Served, path: str, **headers: str) -> Iterator[Iterator[Told]]:
    """The events of a stream, as they come."""
    with served.client.stream("GET", path, headers=headers) as answer:
        assert answer.status_code == 200, answer.read()
        assert answer.headers["content-type"].startswith("text/event-stream")
        yield events(answer.iter_lines())


def events(lines: Iterator[str]) -> Iterator[Told]:
    """Blocks of lines as events; comments are dropped."""
    block: dict[str, str] = {}
    for line in lines:
        if line:
            name, _, value = line.partition(": ")
            block[name] = value
        elif told := _told(block):
            block = {}
            yield told
        else:
            block = {}


async def events_async(answer: httpx.Response) -> AsyncIterator[Told]:
    """The same on a loop."""
    block: dict[str, str] = {}
    async for line in answer.aiter_lines():
        if line:
            name, _, value = line.partition(": ")
            block[name] = value
            continue
        told, block = _told(block), {}
        if told is not None:
            yield told


def _told(block: dict[str, str]) -> Told | None:
    if "event" not in block:
        return None
    return Told(block["event"], json.loads(block["data"]), block.get("id"))
