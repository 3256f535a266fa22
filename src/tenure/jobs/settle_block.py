"""`job.settle()`: the handler's rows, follow-up jobs and the job's end, together or not at all.

The fenced statement is the last one before COMMIT: a slow block does not lock the job's row.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import Token
from types import TracebackType
from typing import TYPE_CHECKING, Any

from tenure.core.errors import CommitUnknown, LeaseLost, SettledTwice
from tenure.core.outcome import Done, Ending, Outcome
from tenure.core.rules.by_class import needs_counts
from tenure.core.rules.retry import Exponential, RetryPolicy
from tenure.core.rules.run_again import MAX_SNOOZES, decide
from tenure.jobs.blocking import check_off_loop
from tenure.jobs.codec import encode
from tenure.jobs.transaction import AsyncOpenTransaction, OpenTransaction, OwnThread, open_here
from tenure.stores.contract import Report

if TYPE_CHECKING:
    from tenure.jobs.running_job import RunningJob


class Settling:
    """One use of `job.settle()`, as a plain or an async context manager."""

    def __init__(self, job: RunningJob, outcome: Outcome | None, result: Any, tx: Any) -> None:
        self._job = job
        self._ending = _ending(job, outcome, result)
        self._policy = _policy(job)
        self._settlement = decide(job.claimed, self._ending, self._policy, random.random)
        self._given = getattr(tx, "inner", tx)
        self._awaited = self._given is not None and job.app.store.is_async(self._given)
        self._block = self._steps()
        self._thread: OwnThread | None = None
        self._token: Token[object | None] | None = None
        self._tell: Callable[[], None] = lambda: None

    def __enter__(self) -> OpenTransaction:
        check_off_loop("with job.settle()", "async with job.settle()")
        inner = self._block.__enter__()
        self._token = open_here.set(inner)
        opened = OpenTransaction(self._job.app, inner)
        self._tell = opened.tell
        return opened

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._unmark()
        self._block.__exit__(kind, error, trace)

    async def __aenter__(self) -> AsyncOpenTransaction:
        if self._awaited:
            self._check_first()
            await asyncio.to_thread(self._count)
            inner = self._given
        else:
            self._thread = OwnThread()
            inner = await self._begin(self._thread)
        self._token = open_here.set(inner)
        opened = AsyncOpenTransaction(self._job.app, inner, self._thread)
        self._tell = opened.tell
        return opened

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._unmark()
        if self._thread is not None:
            try:
                await self._thread.call(self._block.__exit__, kind, error, trace)
            finally:
                self._thread.end()
        elif error is None:
            jobs = self._job.app.store.jobs
            # On a connection of ours: the user's async connection cannot run our sync statements.
            await asyncio.to_thread(jobs.report, self._news())
            self._require(await jobs.settle_async([self._settlement], self._given))
            self._done()

    async def _begin(self, thread: OwnThread) -> Any:
        try:
            return await thread.call(self._block.__enter__)
        except BaseException as error:
            if isinstance(
                error, asyncio.CancelledError
            ):  # the thread may still begin it: roll back
                thread.leave(self._block.__exit__, type(error), error, None)
            thread.end()
            raise

    @contextmanager
    def _steps(self) -> Iterator[Any]:
        """Begin, the caller's block, the fenced settlement, COMMIT."""
        self._check_first()
        self._count()
        store = self._job.app.store
        try:
            with store.transaction() if self._given is None else store.adopt(self._given) as inner:
                yield inner
                store.jobs.report(self._news(), tx=inner)
                self._require(store.jobs.settle([self._settlement], tx=inner))
        # The handler's rows and the settlement share the transaction: the job's row tells for both.
        except CommitUnknown:
            if not self._committed():
                raise
        self._done()

    def _count(self) -> None:
        """Decide anew if it matters how often the job failed before."""
        claimed = self._job.claimed
        if needs_counts(claimed, self._ending, self._policy, MAX_SNOOZES):
            counts = self._job.app.store.jobs.failure_counts(claimed.id)
            self._settlement = decide(claimed, self._ending, self._policy, random.random, counts)

    def _news(self) -> list[Report]:
        """Progress and log lines go first: after the settlement the fence refuses them."""
        news = self._job.take_news()
        return [] if news is None else [news]

    def _check_first(self) -> None:
        if self._job.settled or self._job.joined:
            raise SettledTwice(self._job.id)

    def _require(self, applied: frozenset[str]) -> None:
        if self._job.id not in applied:
            self._job.stop_reason = "lost"
            raise LeaseLost(self._job.id, self._job.fence)

    def _done(self) -> None:
        """In a joined transaction the user commits later: the worker checks the row afterwards."""
        self._job.has_settled(self._settlement, joined=self._given is not None)
        if self._given is None:
            self._tell()

    def _committed(self) -> bool:
        """Whether the COMMIT went through before the connection broke: the row tells."""
        row = self._job.app.store.jobs.get(self._job.id)
        return (
            row is not None
            and row.fence == self._job.fence
            and row.lease_until is None
            and row.state is self._settlement.state
        )

    def _unmark(self) -> None:
        if self._token is not None:
            open_here.reset(self._token)


def _ending(job: RunningJob, outcome: Outcome | None, result: Any) -> Ending:
    limit = job.app.settings.payload_limit_bytes
    text = None if result is None else encode(result, limit, "result")
    return Done(text) if outcome is None else outcome


def _policy(job: RunningJob) -> RetryPolicy:
    usual = Exponential(attempts=job.app.settings.max_attempts)
    return job.app.handlers.policy(job.kind, usual)
