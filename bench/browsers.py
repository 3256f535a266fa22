"""Clients of an HTTP service that cost little themselves: bytes out, and bytes counted."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Callable, Iterator
from itertools import count

NAMED = re.compile(rb'"jobId":"(\d+)"')
LENGTH = re.compile(rb"content-length: (\d+)", re.IGNORECASE)
Ask = Callable[[int], bytes]


def asking(method: str, path: str, key: str, body: object = None) -> bytes:
    """A request that keeps its connection."""
    text = b"" if body is None else json.dumps(body).encode()
    head = f"{method} {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {key}\r\n"
    sort = (
        "" if body is None else f"content-type: application/json\r\ncontent-length: {len(text)}\r\n"
    )
    return f"{head}{sort}\r\n".encode() + text


async def load(port: int, ask: Ask, requests: int, connections: int) -> tuple[float, list[float]]:
    """So many requests over so many connections: the seconds of all, and of each."""
    numbers, each = iter(range(requests)), list[float]()
    clients = [_client(port, ask, numbers, each) for _ in range(connections)]
    begun = time.perf_counter()
    await asyncio.gather(*clients)
    return time.perf_counter() - begun, each


async def _client(port: int, ask: Ask, numbers: Iterator[int], each: list[float]) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for number in numbers:
        begun = time.perf_counter()
        writer.write(ask(number))
        head = await reader.readuntil(b"\r\n\r\n")
        found = LENGTH.search(head)
        body = await reader.readexactly(int(found[1]) if found else 0)
        each.append(time.perf_counter() - begun)
        if not head.startswith(b"HTTP/1.1 20"):
            raise SystemExit(f"the service answered {head[:40]!r} {body[:200]!r}")
    writer.close()


class Watcher:
    """One client of `/api/events`: which jobs it was told of."""

    def __init__(self) -> None:
        self.told: set[bytes] = set()
        self.ready = asyncio.Event()

    async def watch(self, port: int, key: str) -> None:
        """Until it is cancelled."""
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 20)
        writer.write(asking("GET", "/api/events", key))
        rest = b""
        for _ in count():
            part = await reader.read(1 << 18)
            if not part:
                raise SystemExit("a stream ended")
            rest += part
            if b"event: ready" in rest or b"event: reset" in rest:
                self.ready.set()
            whole, _, rest = rest.rpartition(b"\n\n")
            self.told.update(NAMED.findall(whole))
