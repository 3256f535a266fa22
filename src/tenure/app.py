"""Tenure(url): enqueue, read, wait, cancel, retry. What users hold in their hands."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Concatenate, Literal, ParamSpec, Unpack

from tenure.core.errors import JobNotFound, OptionError, PayloadError
from tenure.core.job import Job, NewJob
from tenure.core.origin import Tracing
from tenure.core.rules.limits import Limit
from tenure.core.rules.retry import Exponential, RetryPolicy
from tenure.core.signals import Signals
from tenure.core.timing.clock import Clock
from tenure.feature import Features, Includable, Runner
from tenure.jobs.blocking import check_off_loop
from tenure.jobs.codec import EMPTY, encode
from tenure.jobs.handler import Handler, HandlerOptions, Registry, RunsIn, described, timeout_of
from tenure.jobs.options import Options, take_place
from tenure.jobs.published_handlers import Published
from tenure.jobs.reference import JobRef
from tenure.jobs.running_job import RunningJob
from tenure.jobs.transaction import OpenTransaction, check_inside, open_here
from tenure.jobs.waiters import Waits
from tenure.operations.insight import Insight
from tenure.operations.limits import KeptLimits
from tenure.operations.operator import Operator
from tenure.operations.queue_options import Queues
from tenure.operations.tenants import Tenants
from tenure.settings import Settings
from tenure.stores import open_store
from tenure.stores.contract import Added, Change, Move, Store

P = ParamSpec("P")


class Tenure:
    """An app: its database, its handlers. Opens no connection, thread or file before first use.

    >>> app = Tenure("sqlite:///tenure.db")
    >>> @app.job("greet")
    ... def greet(job, name: str) -> str:
    ...     return f"Hello {name}"
    >>> greet.enqueue(name="Ada")            # doctest: +SKIP
    JobRef(id='1', created=True)
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        settings: Settings | None = None,
        clock: Clock | None = None,
        features: Collection[str] | None = None,
    ) -> None:
        self.settings = settings or Settings()
        self.url = self.settings.database_url if url is None else url
        self.signals = Signals()
        self.store: Store = open_store(
            self.url,
            clock=clock,
            auto_migrate=self.settings.auto_migrate,
            wake=self.settings.wake(self.signals),
        )
        self.handlers = Registry()
        self.runners: list[Runner] = []
        chosen = self.settings.features if features is None else features
        self.features = Features(self, chosen, self._take)
        self.insight = Insight(self.store)
        self.operator = Operator(self.store, self.signals)
        self.tenants = Tenants(self.store)
        self.published = Published(self.store, self.settings)
        self.limits = KeptLimits(self.store, self.handlers, self.published)
        self.queues = Queues(self.store, self.handlers)
        self.queue = self.queues.declare
        self.waits = Waits(self.store, self.signals)
        self.watchers: dict[str, Any] = {}
        self.tracing: Tracing | None = None

    def job(
        self,
        kind: str,
        *,
        queue: str = "default",
        timeout: float | None = None,
        retry: RetryPolicy | None = None,
        runs_in: Literal["process"] | None = None,
        priority: int | None = None,
        limit: Limit | None = None,
        key_limit: Limit | None = None,
    ) -> Callable[[Callable[Concatenate[RunningJob, P], Any]], Handler[P]]:
        """Register a handler. `async def` runs on the loop, `def` in a thread; with
        `runs_in="process"` each run has a process of its own.
        """
        if runs_in not in (None, RunsIn.PROCESS):
            raise OptionError(f'runs_in takes "process" or nothing, not {runs_in!r}')

        def register(function: Callable[Concatenate[RunningJob, P], Any]) -> Handler[P]:
            place = RunsIn.LOOP if inspect.iscoroutinefunction(function) else RunsIn.THREAD
            options = HandlerOptions(
                queue=queue,
                timeout=timeout_of(timeout, self.settings.timeout_seconds),
                retry=retry or Exponential(attempts=self.settings.max_attempts),
                runs_in=place if runs_in is None else RunsIn.PROCESS,
                priority=self.settings.priority if priority is None else priority,
                limit=limit,
                key_limit=key_limit,
            )
            handler = Handler(self, kind, function, options)
            self.handlers.add(handler)
            return handler

        return register

    def include(self, feature: Includable) -> None:
        """Add a feature, or anything else that has handlers. Installed features come by themselves
        when a worker, an API or a command starts; `features=("outbox",)` limits which.
        """
        self.features.include(feature)

    def _take(self, feature: Any) -> None:
        self.handlers.include(feature)
        self.runners.extend(getattr(feature, "runners", ()))

    def policy(self, kind: str) -> RetryPolicy:
        """The retry policy of a kind; the engine's own where this app has no handler."""
        handler = self.handlers.get(kind)
        if handler is not None:
            return handler.options.retry
        return Exponential(attempts=self.settings.max_attempts)

    def new(self, kind: str, payload: Any = None, **options: Unpack[Options]) -> NewJob:
        """A checked job that is not yet added. A kind that this app does not know is accepted."""
        if isinstance(payload, NewJob):
            raise PayloadError("the payload is a new job: pass it to enqueue_many([...])")
        text = EMPTY if payload is None else encode(payload, self.settings.payload_limit_bytes)
        return described(self, kind, text, options)

    def enqueue(self, kind: str, payload: Any = None, **options: Unpack[Options]) -> JobRef:
        """Add one job by name; durable when this returns, or with `tx` part of your transaction."""
        place = take_place(options)
        return self.enqueue_many([self.new(kind, payload, **options)], **place)[0]

    def enqueue_many(
        self, jobs: Iterable[NewJob], *, tx: Any = None, notify: str | None = None
    ) -> list[JobRef]:
        """Add many, all or none: `app.enqueue_many([render.new(invoice_id=n) for n in ids])`."""
        check_off_loop("enqueue()", "await enqueue_async()")
        check_inside(tx)
        placed = self.published.place(list(jobs))
        added = self.store.jobs.add(placed, getattr(tx, "inner", tx), notify=notify)
        return self._added(added, tx)

    async def enqueue_async(
        self, kind: str, payload: Any = None, **options: Unpack[Options]
    ) -> JobRef:
        """Add one job from a coroutine; `tx` may be an async connection or session."""
        place = take_place(options)
        return (await self.enqueue_many_async([self.new(kind, payload, **options)], **place))[0]

    async def enqueue_many_async(
        self, jobs: Iterable[NewJob], *, tx: Any = None, notify: str | None = None
    ) -> list[JobRef]:
        """Add many from a coroutine, all or none."""
        check_inside(tx)
        inner, jobs = getattr(tx, "inner", tx), list(jobs)
        if not self.published.knows(jobs):
            await asyncio.to_thread(self.published.place, jobs)
        jobs = self.published.place(jobs)
        if inner is not tx and not self.store.is_async(inner):
            added = await asyncio.to_thread(self.store.jobs.add, jobs, inner, notify=notify)
        else:
            added = await self.store.jobs.add_async(jobs, inner, notify=notify)
        return self._added(added, tx)

    @contextmanager
    def transaction(self) -> Iterator[OpenTransaction]:
        """Your statements and jobs in one transaction of ours: both or neither."""
        check_off_loop("transaction()", "it in asyncio.to_thread()")
        with self.store.transaction() as inner:
            opened = OpenTransaction(self, inner)
            token = open_here.set(inner)
            try:
                yield opened
            finally:
                open_here.reset(token)
        opened.tell()

    def get(self, job: str | JobRef) -> Job:
        """One job, with payload and result."""
        if (found := self.store.jobs.get(_id(job))) is None:
            raise JobNotFound(_id(job))
        return found

    def wait(self, job: str | JobRef, seconds: float = 15.0) -> Job:
        """The job as soon as it is final, or as it is when the time is over."""
        check_off_loop("wait()", "await wait_async()")
        return self.waits.wait(_id(job), seconds)

    async def wait_async(self, job: str | JobRef, seconds: float = 15.0) -> Job:
        """The same from a coroutine; no connection is held while it waits."""
        return await self.waits.wait_async(_id(job), seconds)

    def cancel(self, job: str | JobRef, actor: str = "operator") -> Job:
        """A waiting job ends at once; a running one is asked to stop."""
        return self.operator.move(_id(job), Change(move=Move.CANCEL, actor=actor))

    def retry(self, job: str | JobRef, actor: str = "operator") -> Job:
        """A finished job starts anew; a waiting one is due now; a running one is left alone."""
        return self.operator.move(_id(job), Change(move=Move.RETRY, actor=actor))

    def _added(self, added: list[Added], tx: Any) -> list[JobRef]:
        """Workers here hear of it: at once, or when our own transaction has committed."""
        refs = [JobRef(one.id, one.created, self) for one in added]
        if tx is None:
            if self.signals.heard("jobs.enqueued"):
                self.signals.emit("jobs.enqueued", ids=[ref.id for ref in refs if ref.created])
        elif hasattr(tx, "inner"):
            tx.enqueued.extend(ref.id for ref in refs if ref.created)
        return refs

    def close(self) -> None:
        """Answer all who wait, close idle connections; the next use opens new ones."""
        self.waits.close()
        self.store.close()


def _id(job: str | JobRef) -> str:
    if isinstance(job, JobRef):
        return job.id
    if not isinstance(job, str):
        raise OptionError(f"a job is named by its id, a text, or by its JobRef; not by {job!r}")
    return job
