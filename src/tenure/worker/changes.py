"""What a worker's loop waits for: a slot is free, a batch is written, a wake-up has come."""

from __future__ import annotations

import asyncio


class Changes:
    """Anything worth another look. Lives on the event loop.

    Call `clear` before a look and `wait` after it: then no change in between is missed.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._event = asyncio.Event()
        # The event's own methods: `tell` is called for every job that ends.
        self.tell = self._event.set
        self.clear = self._event.clear

    async def wait(self, seconds: float | None) -> None:
        """Until something has changed since `clear`, or the time is over."""
        if seconds is None:
            await self._event.wait()
            return
        # A timer that sets the event costs less than a timeout around the wait.
        timer = self._loop.call_later(seconds, self._event.set)
        await self._event.wait()
        timer.cancel()
