"""Threads for plain handlers and for the store. Idle ones take work from one queue, so that nothing
waits while a thread is free.

They are daemons: a handler that never ends cannot keep the process from ending.
"""

from __future__ import annotations

import asyncio
import contextvars
import queue
import threading
from collections.abc import Callable
from typing import Any

Work = tuple[Callable[[], Any], "asyncio.Future[Any]", asyncio.AbstractEventLoop]


class Threads:
    """Up to `limit` threads, started as they are needed."""

    def __init__(self, limit: int, name: str = "tenure-handler") -> None:
        self._limit = limit
        self._name = name
        self._queue: queue.SimpleQueue[Work | None] = queue.SimpleQueue()
        self._started = 0
        self._unfinished = 0
        self._lock = threading.Lock()

    def submit(
        self, function: Callable[..., Any], *args: Any, **kwargs: Any
    ) -> asyncio.Future[Any]:
        """Run it in a thread, in a copy of this context. The future belongs to the running loop."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        context = contextvars.copy_context()
        self._grow()
        self._queue.put((lambda: context.run(function, *args, **kwargs), future, loop))
        return future

    def close(self) -> None:
        """Let idle threads go; busy ones end with their work or with the process."""
        with self._lock:
            for _ in range(self._started):
                self._queue.put(None)

    def _grow(self) -> None:
        """A thread for each piece of work under way or waiting, up to the limit."""
        with self._lock:
            self._unfinished += 1
            if self._started >= min(self._unfinished, self._limit):
                return
            self._started += 1
            name = f"{self._name}-{self._started}"
        threading.Thread(target=self._work, name=name, daemon=True).start()

    def _work(self) -> None:
        while (work := self._queue.get()) is not None:
            _do(*work)
            with self._lock:
                self._unfinished -= 1


def _do(
    call: Callable[[], Any], future: asyncio.Future[Any], loop: asyncio.AbstractEventLoop
) -> None:
    try:
        value = call()
    except BaseException as error:
        _tell(loop, _fail, future, error)
    else:
        _tell(loop, _finish, future, value)


def _tell(loop: asyncio.AbstractEventLoop, what: Callable[..., None], *args: Any) -> None:
    try:
        loop.call_soon_threadsafe(what, *args)
    except RuntimeError:
        return  # the loop is closed: nothing waits for this any more


def _finish(future: asyncio.Future[Any], value: Any) -> None:
    if not future.done():
        future.set_result(value)


def _fail(future: asyncio.Future[Any], error: BaseException) -> None:
    if future.done():
        return
    if isinstance(error, StopIteration):  # a future cannot carry it
        wrapped = RuntimeError("the handler raised StopIteration")
        wrapped.__cause__ = error
        error = wrapped
    future.set_exception(error)


async def in_daemon(function: Callable[..., Any], *args: Any) -> Any:
    """Call it in a daemon thread of its own, which handlers cannot keep busy."""
    threads = Threads(1, "tenure-runner")
    try:
        return await threads.submit(function, *args)
    finally:
        threads.close()
