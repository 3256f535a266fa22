"""The port for wake-ups: who is told that queues have got due jobs, and how it gets there.

A wake-up is a hint. It may be late, lost, repeated or wrong: workers poll whatever they hear, and
the claim decides. Whatever carries hints between processes fits behind `Sender` and `Listener`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from tenure.core.job import NewJob
from tenure.core.signals import Signals

EVERY_QUEUE = ""
"""In place of a queue's name: any queue may have got jobs."""

DEFAULT_CHANNEL = "tenure"
WARN_EVERY_SECONDS = 60.0
Heard = Callable[[Collection[str]], None]


class Sender(Protocol):
    """Carries wake-ups to other processes."""

    def send(self, queues: Collection[str]) -> None:
        """Soon, from a thread of its own: the caller neither waits nor hears of trouble."""
        ...

    def close(self, seconds: float = 1.0) -> None:
        """Say what is left to say, within this time."""
        ...


class Listener(Protocol):
    """Brings the wake-ups of other processes."""

    async def listen(self, heard: Heard, begun: Callable[[], None]) -> None:
        """Call `begun` when connected, then `heard` from this loop, until cancelled or broken."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class WakeOptions:
    """How a store's wake-ups travel; without a channel only within the process."""

    channel: str = DEFAULT_CHANNEL
    listen_url: str | None = None
    signals: Signals = field(default_factory=Signals)


class Wakes:
    """A store's wake-ups: to workers of this process directly, to others through a sender."""

    def __init__(self, sender: Sender | None = None, listener: Listener | None = None) -> None:
        self.sender = sender
        self.listener = listener
        self._here: tuple[Heard, ...] = ()

    def subscribe(self, heard: Heard) -> Callable[[], None]:
        """Call `heard(queues)` from whatever thread tells; returns how to stop."""
        self._here = (*self._here, heard)
        return lambda: self._remove(heard)

    def tell(self, queues: Collection[str]) -> None:
        """These have got jobs that are due, and whoever looks now can see them."""
        if not queues:
            return
        for heard in self._here:
            heard(queues)
        if self.sender is not None:
            self.sender.send(queues)

    def close(self) -> None:
        """Let go of what sends; the next use starts it again."""
        if self.sender is not None:
            self.sender.close()

    def _remove(self, heard: Heard) -> None:
        self._here = tuple(one for one in self._here if one is not heard)


class Complaints:
    """Tells of trouble with wake-ups, but not all the time: jobs run without them too."""

    def __init__(self, signals: Signals) -> None:
        self._signals = signals
        self._at = -WARN_EVERY_SECONDS

    def make(self, error: Exception, step: str) -> None:
        """At most once a minute."""
        now = time.monotonic()
        if now - self._at >= WARN_EVERY_SECONDS:
            self._at = now
            self._signals.emit("wake.failed", error=error, step=step)


def due_queues(jobs: Iterable[NewJob], now: datetime) -> set[str]:
    """Queues of the jobs that need not wait for their time."""
    return {
        job.queue
        for job in jobs
        if job.delay_seconds <= 0 and (job.run_at is None or job.run_at <= now)
    }
