"""The running job, as its handler sees it: facts, progress, log lines, steps, settlement."""

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
    from tenure.jobs.app_protocol import App

P = ParamSpec("P")
# Per heartbeat, so that a handler in a loop cannot fill memory or the database.
LOG_LINES_KEPT = 200
LOG_LINE_LIMIT = 2_000
NEWS_LOCK = threading.Lock()
"""Held for an append only. One lock for all jobs: most have no news, and a lock each would cost."""
current_job: ContextVar[RunningJob | None] = ContextVar("tenure_current_job", default=None)


@dataclass(slots=True)
class News:
    """Progress and log lines until the next heartbeat. Any thread may add some."""

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

    def __init__(self, app: App, claimed: ClaimedJob) -> None:
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
        """The tenant whose data it is."""
        return self.claimed.tenant

    @property
    def canceled(self) -> bool:
        """Whether to stop: cancelled, timed out, or the lease is lost. Check it now and then.

        A handler that saw True and returns None has stopped; one that returns a value has finished
        nevertheless.
        """
        self.noticed = self.noticed or self.stop_reason is not None
        return self.noticed

    def progress(self, fraction: float, note: str | None = None) -> None:
        """Report progress, from 0 to 1. Cheap: it is written with the next heartbeat."""
        if not 0.0 <= fraction <= 1.0:
            raise OptionError(f"progress must be from 0 to 1, not {fraction!r}")
        need(self.app.store, Capability.REPORTS)
        with NEWS_LOCK:
            news = self._news = self._news or News()
            news.progress = float(fraction)
            news.note = None if note is None else _line(note)[:200]

    def log(self, message: str, level: str = "info") -> None:
        """Add a log line to the job. At most 200 between two heartbeats are kept."""
        need(self.app.store, Capability.REPORTS)
        line = LogLine(_line(message), _line(level)[:20], datetime.now(UTC))
        with NEWS_LOCK:
            news = self._news = self._news or News()
            if len(news.lines) < LOG_LINES_KEPT:
                news.lines.append(line)
            else:
                news.dropped += 1

    def settle(
        self, outcome: Outcome | None = None, *, result: Any = None, tx: Any = None
    ) -> Settling:
        """Commit your rows, follow-up jobs and the end of this job in one fenced transaction.

        `with job.settle() as tx:` in a plain handler, `async with` in an async one. With `tx` it
        joins your own open transaction, and you commit.
        """
        if self.settled or self.joined:
            raise SettledTwice(self.id)
        return Settling(self, outcome, result, tx)

    def step(self, name: str, function: Callable[P, Any], *args: P.args, **kwargs: P.kwargs) -> Any:
        """Call the function once for this job, whatever its retries: `job.step("charge", pay, 42)`.

        The result is kept as JSON; later runs return it without a call. Exceptions are not kept.
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
        """Called by the settle block. `joined`: the user has to commit their own transaction."""
        self.settlement = settlement
        if joined:
            self.joined = True
        else:
            self.settled = True

    def take_news(self) -> Report | None:
        """Progress and lines to write now, if any; called by the heartbeat."""
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
