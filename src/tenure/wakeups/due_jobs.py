"""Wake-ups: workers are told that queues have due jobs, in this process and in others.

A wake-up is a hint. It may be late, lost, repeated or wrong: workers poll in any case, and the
claim decides. Anything that carries hints between processes fits behind `Sender` and `Listener`.
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
"""In place of a queue's name: any queue may have due jobs."""

DEFAULT_CHANNEL = "tenure"
WARN_EVERY_SECONDS = 60.0
Heard = Callable[[Collection[str]], None]


class Due(NamedTuple):
    """Queues that have due jobs, and one of the jobs, if known."""

    queues: frozenset[str] = frozenset()
    job_id: str | None = None

    def with_more(self, other: Due) -> Due:
        """Both as one, with the later job."""
        return Due(self.queues | other.queues, other.job_id or self.job_id)


ANY_QUEUE = Due(frozenset([EVERY_QUEUE]))


class Sender(Protocol):
    """Carries wake-ups to other processes."""

    def send(self, due: Due) -> None:
        """Send soon, from a thread of its own. The caller neither waits nor gets an error."""
        ...

    @property
    def healthy(self) -> bool:
        """Whether the last wake-up was sent."""
        ...

    def close(self, seconds: float = 1.0) -> None:
        """Send what is left, within this time."""
        ...


class Listener(Protocol):
    """Brings the wake-ups of other processes."""

    @property
    def healthy(self) -> bool:
        """Whether it is listening, or was never asked to."""
        ...

    async def check(self) -> None:
        """Raise if the configuration can never work. An outage is no such error."""
        ...

    async def listen(self, heard: Heard, begun: Callable[[], None]) -> None:
        """Call `begun` when connected, then `heard` from this loop, until cancelled or broken."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerOptions:
    """A RabbitMQ server that carries wake-ups."""

    url: str
    exchange: str = "bpc"
    routing_key: str = "jobs.trigger"


@dataclass(frozen=True, slots=True, kw_only=True)
class WakeOptions:
    """How wake-ups travel. Without a channel or a broker they stay within the process."""

    channel: str = DEFAULT_CHANNEL
    listen_url: str | None = None
    broker: BrokerOptions | None = None
    signals: Signals = field(default_factory=Signals)


class Wakeups:
    """A store's wake-ups: to workers of this process directly, to other processes by senders.

    `inside` builds the statement that wakes workers from within a transaction, on databases that
    have one.
    """

    def __init__(self, senders: Sequence[Sender] = (), listeners: Sequence[Listener] = ()) -> None:
        self.senders = tuple(senders)
        self.listeners = tuple(listeners)
        self.inside: Callable[[Collection[str]], str] | None = None
        self.ended_jobs = EndedJobs()
        self._here: tuple[Heard, ...] = ()

    def subscribe(self, heard: Heard) -> Callable[[], None]:
        """Call `heard(queues)` on every wake-up, from any thread; returns how to unsubscribe."""
        self._here = (*self._here, heard)
        return lambda: self._remove(heard)

    def tell(self, due: Due) -> None:
        """Wake workers. The jobs must be visible to others by now."""
        if not due.queues:
            return
        for heard in self._here:
            heard(due.queues)
        for sender in self.senders:
            sender.send(due)

    @property
    def healthy(self) -> bool:
        """Whether every sender and every listener works."""
        heard = all(listener.healthy for listener in self.listeners)
        return heard and all(sender.healthy for sender in self.senders)

    def close(self) -> None:
        """Stop the senders. The next wake-up starts them again."""
        for sender in self.senders:
            sender.close()
        self.ended_jobs.close()

    def _remove(self, heard: Heard) -> None:
        self._here = tuple(one for one in self._here if one is not heard)


class Complaints:
    """Reports trouble with wake-ups, but rarely: jobs run without them too."""

    def __init__(self, signals: Signals) -> None:
        self._signals = signals
        self._at = -WARN_EVERY_SECONDS

    def make(self, error: Exception, step: str) -> None:
        """Emit `wake.failed`, at most once a minute."""
        now = time.monotonic()
        if now - self._at >= WARN_EVERY_SECONDS:
            self._at = now
            self._signals.emit("wake.failed", error=error, step=step)


def heed_cancel() -> None:
    """Raise CancelledError if this task was cancelled and a library swallowed that. Before Python
    3.12 `asyncio.wait_for` does so if what it waits for ends at the same moment.
    """
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


def due_queues(jobs: Iterable[NewJob], now: datetime) -> frozenset[str]:
    """Queues of the jobs that are due at once."""
    return frozenset(
        job.queue
        for job in jobs
        if job.delay_seconds <= 0 and (job.run_at is None or job.run_at <= now)
    )
