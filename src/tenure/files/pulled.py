"""The body of a request, for code that writes to disk in a thread of its own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from typing import TypeVar

from starlette.requests import ClientDisconnect, Request

T = TypeVar("T")


class CutShort(Exception):
    """The client went away before its body had ended."""


async def receive_into(request: Request, write: Callable[[Iterator[bytes]], T]) -> T:
    """Call `write` in a thread with the body's parts.

    A part is asked for when the one before has been written: a slow disk slows the client down,
    and no more than a part is kept in memory.
    """
    stream, loop = request.stream(), asyncio.get_running_loop()

    def parts() -> Iterator[bytes]:
        while True:
            part = asyncio.run_coroutine_threadsafe(_next(stream), loop).result()
            if part is None:
                return
            yield part

    return await asyncio.to_thread(write, parts())


async def _next(stream: AsyncIterator[bytes]) -> bytes | None:
    try:
        return await anext(stream, None)
    except ClientDisconnect:
        raise CutShort from None
