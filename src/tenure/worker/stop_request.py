"""The request to stop a worker, from a signal or from any thread."""

from __future__ import annotations

import asyncio
from contextlib import suppress


class StopRequest:
    """Asked once, a worker finishes what runs. Asked again, it gives everything back at once.

    A worker may start again after it has stopped: `begin` makes the request anew on its loop.
    """

    def __init__(self) -> None:
        self.loop: asyncio.AbstractEventLoop | None = None
        self.stop = asyncio.Event()
        self.hurry = asyncio.Event()

    def begin(self) -> None:
        """The worker starts on the running loop."""
        self.loop = asyncio.get_running_loop()
        self.stop, self.hurry = asyncio.Event(), asyncio.Event()

    def ask(self) -> None:
        """On the loop of the worker."""
        if self.stop.is_set():
            self.hurry.set()
        self.stop.set()

    def ask_from_any_thread(self) -> None:
        """Nothing happens if the worker has not started, or has stopped already."""
        if self.loop is not None:
            with suppress(RuntimeError):  # the loop is closed
                self.loop.call_soon_threadsafe(self.ask)

    def ask_once_from_any_thread(self) -> None:
        """Ask, but not again: a request that is read twice must not hurry the worker."""
        if self.loop is not None:
            with suppress(RuntimeError):  # the loop is closed
                self.loop.call_soon_threadsafe(self.stop.set)
