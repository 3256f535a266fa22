"""The port for wake-ups: who is told that queues have got due jobs, and how it gets there.

A wake-up is a hint. It may be late, lost, repeated or wrong: workers poll whatever they hear, and
the claim decides. Whatever carries hints between processes fits behind `Sender` and `Listener`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple, Protocol

from tenure.core.job import NewJob
from tenure.core.signals import Signals
from tenure.wakeups.ended_jobs import EVERY_JOB, EndedJobs

EVERY_QUEUE = EVERY_JOB
"""In place of a queue's name: any queue may have got jobs."""

DEFAULT_CHANNEL = "tenure"
WARN_EVERY_SECONDS = 60.0
Heard = Callable[[Collection[str]], None]


class Due(NamedTuple):
    """What there is to tell: queues that have got due jobs, and one of the jobs, if known."""

    queues: frozenset[str] = frozenset()
    job_id: str | None = None

    def with_more(self, other: Due) -> Due:
        """Both as one; the later job stands for all."""
        return Due(self.queues | other.queues, other.job_id or self.job_id)


ANY_QUEUE = Due(frozenset([EVERY_QUEUE]))


class Sender(Protocol):
    """Carries wake-ups to other processes."""

    def send(self, due: Due) -> None:
        """Soon, from a thread of its own: the caller neither waits nor hears of trouble."""
        ...

    @property
    def healthy(self) -> bool:
        """Whether the last wake-up got out."""
        ...

    def close(self, seconds: float = 1.0) -> None:
        """Say what is left to say, within this time."""
        ...


class Listener(Protocol):
    """Brings the wake-ups of other processes."""

    @property
    def healthy(self) -> bool:
        """Whether it listens, or has not been asked to."""
        ...

    async def check(self) -> None:
        """Raises where it is set up in a way that can never work; an outage is none."""
        ...

    async def listen(self, heard: Heard, begun: Callable[[], None]) -> None:
        """Call `begun` when connected, then `heard` from this loop, until cancelled or broken."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerOptions:
    """Where a RabbitMQ is that carries wake-ups too."""

    url: str
    exchange: str = "bpc"
    routing_key: str = "jobs.trigger"


@dataclass(frozen=True, slots=True, kw_only=True)
class WakeOptions:
    """How a store's wake-ups travel; without a channel or a broker only within the process."""

    channel: str = DEFAULT_CHANNEL
    listen_url: str | None = None
    broker: BrokerOptions | None = None
    signals: Signals = field(default_factory=Signals)


class Wakeups:
    """A store's wake-ups: to workers of this process directly, to others through senders.

    `inside` makes the statement that says it in somebody's transaction, where there is one.
    """

    def __init__(self, senders: Sequence[Sender] = (), listeners: Sequence[Listener] = ()) -> None:
        self.senders = tuple(senders)
        self.listeners = tuple(listeners)
        self.inside: Callable[[Collection[str]], str] | None = None
        self.endings = EndedJobs()
        self._here: tuple[Heard, ...] = ()

    def subscribe(self, heard: Heard) -> Callable[[], None]:
        """Call `heard(queues)` from whatever thread tells; returns how to stop."""
        self._here = (*self._here, heard)
        return lambda: self._remove(heard)

    def tell(self, due: Due) -> None:
        """These have got jobs that are due, and whoever looks now can see them."""
        if not due.queues:
            return
        for heard in self._here:
            heard(due.queues)
        for sender in self.senders:
            sender.send(due)

    @property
    def healthy(self) -> bool:
        """Whether the last wake-up got out, and who should listen does, on every way there is."""
        heard = all(listener.healthy for listener in self.listeners)
        return heard and all(sender.healthy for sender in self.senders)

    def close(self) -> None:
        """Let go of what sends; the next use starts it again."""
        for sender in self.senders:
            sender.close()
        self.endings.close()

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


def heed_cancel() -> None:
    """CancelledError where this task was cancelled and a library has swallowed it: before Python
    3.12 `asyncio.wait_for` does so where what it waits for ends at the same moment.
    """
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


def due_queues(jobs: Iterable[NewJob], now: datetime) -> frozenset[str]:
    """Queues of the jobs that need not wait for their time."""
    return frozenset(
        job.queue
        for job in jobs
        if job.delay_seconds <= 0 and (job.run_at is None or job.run_at <= now)
    )
