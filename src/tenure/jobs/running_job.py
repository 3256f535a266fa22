"""A job in its handler's hands: who it is, how it says what it does, how it ends itself."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, ParamSpec

from tenure.core.errors import OptionError, SettledTwice
from tenure.core.lease import ClaimedJob
from tenure.core.outcome import Outcome
from tenure.core.settlement import Settlement
from tenure.jobs.settle_block import Settling
from tenure.jobs.steps import RunSteps
from tenure.stores.contract import Capability, LogLine, Report
from tenure.stores.contract.needs import need

if TYPE_CHECKING:
    from tenure.app import Tenure

P = ParamSpec("P")
LOG_LINES_KEPT = 200
LOG_LINE_LIMIT = 2_000
NEWS_LOCK = threading.Lock()
"""Held for an append: one for all jobs, as most of them have no news at all."""
current_job: ContextVar[RunningJob | None] = ContextVar("tenure_current_job", default=None)


@dataclass(slots=True)
class News:
    """Progress and lines that wait for the next heartbeat. Any thread may add."""

    progress: float | None = None
    note: str | None = None
    lines: list[LogLine] = field(default_factory=list)
    dropped: int = 0


class RunningJob:
    """The first argument of every handler."""

    __slots__ = (
        "_news", "_steps", "app", "claimed", "joined", "noticed", "settled", "settlement",
        "stop_reason",
    )  # fmt: skip

    def __init__(self, app: Tenure, claimed: ClaimedJob) -> None:
        self.app = app
        self.claimed = claimed
        self.stop_reason: str | None = None
        self.noticed = False
        self.settled = False
        self.settlement: Settlement | None = None
        self.joined = False
        self._news: News | None = None
        self._steps: RunSteps | None = None

    @property
    def id(self) -> str:
        """The job's id."""
        return self.claimed.id

    @property
    def kind(self) -> str:
        """The name that selected this handler."""
        return self.claimed.kind

    @property
    def attempt(self) -> int:
        """Which run this is, from 1."""
        return self.claimed.attempt

    @property
    def fence(self) -> int:
        """The number under which this run may write."""
        return self.claimed.lease.fence

    @property
    def tenant(self) -> str:
        """Whose data it is."""
        return self.claimed.tenant

    @property
    def canceled(self) -> bool:
        """Whether to stop: cancelled, out of time, or the lease is lost. Ask now and then.

        A handler that saw it and returns nothing has stopped; one that returns a value has
        finished all the same.
        """
        self.noticed = self.noticed or self.stop_reason is not None
        return self.noticed

    def progress(self, fraction: float, note: str | None = None) -> None:
        """Say how far it is, 0 to 1. Cheap: it travels with the heartbeat."""
        if not 0.0 <= fraction <= 1.0:
            raise OptionError(f"progress goes from 0 to 1, not {fraction!r}")
        need(self.app.store, Capability.REPORTS)
        with NEWS_LOCK:
            news = self._fresh_news()
            news.progress = float(fraction)
            news.note = None if note is None else _line(note)[:200]

    def log(self, message: str, level: str = "info") -> None:
        """Keep a line with the job. At most a few hundred between two heartbeats are kept."""
        need(self.app.store, Capability.REPORTS)
        line = LogLine(_line(message), _line(level)[:20], datetime.now(UTC))
        with NEWS_LOCK:
            news = self._fresh_news()
            if len(news.lines) < LOG_LINES_KEPT:
                news.lines.append(line)
            else:
                news.dropped += 1

    def settle(
        self, outcome: Outcome | None = None, *, result: Any = None, tx: Any = None
    ) -> Settling:
        """Your rows, follow-up jobs and this job's end in one fenced transaction.

        `with job.settle() as tx:` in a plain handler, `async with` in an async one. With `tx` it
        joins your own open transaction, and you commit.
        """
        if self.settled or self.joined:
            raise SettledTwice(self.id)
        return Settling(self, outcome, result, tx)

    def step(self, name: str, function: Callable[P, Any], *args: P.args, **kwargs: P.kwargs) -> Any:
        """Call the function once for this job, whatever its retries: `job.step("charge", pay, 42)`.

        Its result is kept as JSON and answered again by later runs. What it raises is not kept.
        """
        return self._run_steps().run(name, function, *args, **kwargs)

    async def step_async(
        self,
        name: str,
        function: Callable[P, Awaitable[Any] | Any],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> Any:
        """The same in an async handler: `await job.step_async("charge", pay, 42)`."""
        return await self._run_steps().run_async(name, function, *args, **kwargs)

    def _run_steps(self) -> RunSteps:
        with NEWS_LOCK:
            if self._steps is None:
                self._steps = RunSteps(self)
            return self._steps

    def has_settled(self, settlement: Settlement, *, joined: bool) -> None:
        """It ended itself: in a transaction of ours, or in one that the caller is to commit."""
        self.settlement = settlement
        if joined:
            self.joined = True
        else:
            self.settled = True

    def _fresh_news(self) -> News:
        if self._news is None:
            self._news = News()
        return self._news

    def take_news(self) -> Report | None:
        """What is to be written now; the heartbeat asks."""
        if self._news is None:
            return None
        with NEWS_LOCK:
            news, self._news = self._news, None
        if news.dropped:
            news.lines.append(LogLine(f"{news.dropped} more lines were dropped", "warning"))
        return Report(
            lease=self.claimed.lease, progress=news.progress, note=news.note, lines=news.lines
        )


def _line(message: str) -> str:
    """One storable line: no control characters, no lone surrogates, bounded."""
    text = str(message).encode("utf-8", "backslashreplace").decode()
    clean = "".join(char if char >= " " or char == "\t" else repr(char)[1:-1] for char in text)
    return clean[:LOG_LINE_LIMIT]
