"""The body of a request, for code that writes to disk in a thread of its own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from starlette.requests import ClientDisconnect, Request

from tenure.files.errors import TooManyUploads, UploadStalled

T = TypeVar("T")
IDLE_SECONDS = 30.0
"""A client that sends nothing for so long is given up: each holds a thread."""
AT_ONCE = 64
# Threads of their own: the loop's pool also serves event streams, and clients may be slow.
THREADS = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="tenure-upload")


class CutShort(Exception):
    """The client went away before its body had ended."""


class _Parts:
    """The body, a part at a time. `stop` ends a thread that waits for the next one."""

    _running = 0

    def __init__(self, stream: AsyncIterator[bytes], loop: asyncio.AbstractEventLoop) -> None:
        self._stream, self._loop = stream, loop
        self._waiting: Future[bytes | None] | None = None

    def __iter__(self) -> Iterator[bytes]:
        while True:
            self._waiting = asyncio.run_coroutine_threadsafe(_next(self._stream), self._loop)
            part = self._waiting.result()
            if part is None:
                return
            yield part

    def stop(self) -> None:
        """The request is over: nobody will send the next part."""
        if self._waiting is not None:
            self._waiting.cancel()


async def receive_into(request: Request, write: Callable[[Iterator[bytes]], T]) -> T:
    """Call `write` in a thread with the body's parts.

    A part is asked for when the one before has been written: a slow disk slows the client down,
    and no more than a part is kept in memory.
    """
    if _Parts._running >= AT_ONCE:
        raise TooManyUploads(AT_ONCE)
    loop = asyncio.get_running_loop()
    parts = _Parts(request.stream(), loop)
    _Parts._running += 1
    try:
        return await loop.run_in_executor(THREADS, lambda: write(iter(parts)))
    except BaseException:
        parts.stop()
        raise
    finally:
        _Parts._running -= 1


async def _next(stream: AsyncIterator[bytes]) -> bytes | None:
    try:
        async with asyncio.timeout(IDLE_SECONDS):
            return await anext(stream, None)
    except ClientDisconnect:
        raise CutShort from None
    except TimeoutError:
        raise UploadStalled(IDLE_SECONDS) from None
