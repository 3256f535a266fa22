"""Tenure(url): enqueue, read, wait, cancel, retry. What users hold in their hands."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Unpack

from tenure.core.errors import JobNotFound, OptionError, PayloadError
from tenure.core.job import Job, NewJob
from tenure.core.origin import Tracing
from tenure.core.signals import Signals
from tenure.core.timing.clock import Clock
from tenure.feature import Features, Includable, Runner
from tenure.jobs.blocking import check_off_loop
from tenure.jobs.codec import EMPTY, encode
from tenure.jobs.declared_jobs import Jobs
from tenure.jobs.enqueue import HandlerFunction, P, described
from tenure.jobs.handler import Handler, declares
from tenure.jobs.handler_options import JobOptions
from tenure.jobs.hooks import Hooks
from tenure.jobs.options import Options, take_tx_options
from tenure.jobs.published_handlers import Published
from tenure.jobs.reference import JobRef
from tenure.jobs.registry import Registry
from tenure.jobs.transaction import OpenTransaction, check_inside, open_here
from tenure.jobs.waiting.waiters import Waiters
from tenure.operations.charts import Charts
from tenure.operations.insight import Insight
from tenure.operations.limits import KeptLimits
from tenure.operations.operator import Operator
from tenure.operations.queue_options import Queues
from tenure.operations.tenants import Tenants
from tenure.settings import Settings
from tenure.stores import open_store
from tenure.stores.contract import Added, Change, Move, Store


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
        self.hooks = Hooks()
        self.on_worker_start = self.hooks.on_worker_start
        self.on_worker_stop = self.hooks.on_worker_stop
        self.middleware = self.hooks.middleware
        self.runners: list[Runner] = []
        chosen = self.settings.features if features is None else features
        self.features = Features(self, chosen, partial(_take, self))
        self.insight = Insight(self.store)
        self.operator = Operator(self.store, self.signals, self.features.load)
        self.charts = Charts(self.store)
        self.tenants = Tenants(self.store)
        self.published = Published(self.store, self.settings)
        self.limits = KeptLimits(self.store, self.handlers, self.published)
        self.queues = Queues(self.store, self.handlers)
        self.queue = self.queues.declare
        self.waiters = Waiters(self.store, self.signals)
        self.watchers: dict[str, Any] = {}
        self.tracing: Tracing | None = None
        self.closed = False

    def job(
        self, kind: str, **options: Unpack[JobOptions]
    ) -> Callable[[HandlerFunction[P]], Handler[P]]:
        """Register a handler. `async def` runs on the loop, `def` in a thread; with
        `runs_in="process"` each run has a process of its own.
        """
        return declares(self, kind, options)

    def include(self, *parts: Includable | Jobs) -> None:
        """Add features, a `Jobs`, or anything else that has handlers. Installed features need no
        include: they come with a worker, an API or a command. `features=("outbox",)` limits them.
        """
        # All of them, or none.
        self.handlers.check_free(part for part in parts if not self.features.has(part))
        for part in parts:
            self.features.include(part)

    def new(self, kind: str, payload: Any = None, **options: Unpack[Options]) -> NewJob:
        """A checked job that is not yet added. A kind that this app does not know is accepted."""
        if isinstance(payload, NewJob):
            raise PayloadError("the payload is a new job: pass it to enqueue_many([...])")
        text = EMPTY if payload is None else encode(payload, self.settings.payload_limit_bytes)
        return described(self, kind, text, options)

    def enqueue(self, kind: str, payload: Any = None, **options: Unpack[Options]) -> JobRef:
        """Add one job by name; durable when this returns, or with `tx` part of your transaction."""
        within = take_tx_options(options)
        return self.enqueue_many([self.new(kind, payload, **options)], **within)[0]

    def enqueue_many(
        self, jobs: Iterable[NewJob], *, tx: Any = None, notify: str | None = None
    ) -> list[JobRef]:
        """Add many, all or none: `app.enqueue_many([render.new(invoice_id=n) for n in ids])`."""
        check_off_loop("enqueue()", "await enqueue_async()")
        check_inside(tx)
        placed = self.published.place(list(jobs))
        added = self.store.jobs.add(placed, getattr(tx, "inner", tx), notify=notify)
        return _references(self, added, tx)

    async def enqueue_async(
        self, kind: str, payload: Any = None, **options: Unpack[Options]
    ) -> JobRef:
        """Add one job from a coroutine; `tx` may be an async connection or session."""
        within = take_tx_options(options)
        return (await self.enqueue_many_async([self.new(kind, payload, **options)], **within))[0]

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
        return _references(self, added, tx)

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
        return self.waiters.wait(_id(job), seconds)

    async def wait_async(self, job: str | JobRef, seconds: float = 15.0) -> Job:
        """The same from a coroutine; no connection is held while it waits."""
        return await self.waiters.wait_async(_id(job), seconds)

    def cancel(self, job: str | JobRef, actor: str = "operator") -> Job:
        """A waiting job ends at once; a running one is asked to stop."""
        return self.operator.move(_id(job), Change(move=Move.CANCEL, actor=actor))

    def retry(self, job: str | JobRef, actor: str = "operator") -> Job:
        """A finished job starts anew; a waiting one is due now; a running one is left alone."""
        return self.operator.move(_id(job), Change(move=Move.RETRY, actor=actor))

    def close(self) -> None:
        """Answer all who wait, close idle connections; the next use opens new ones."""
        self.closed = True
        self.waiters.close()
        self.store.close()


def _take(app: Tenure, part: Any) -> None:
    app.handlers.include(app, part if isinstance(part, Jobs) else part.handlers)
    app.handlers.include_slots(getattr(part, "slots", {}))
    app.runners.extend(getattr(part, "runners", ()))


def _references(app: Tenure, added: list[Added], tx: Any) -> list[JobRef]:
    """Workers here hear of it: at once, or when our own transaction has committed."""
    refs = [JobRef(one.id, one.created, app) for one in added]
    if tx is None:
        if app.signals.heard("jobs.enqueued"):
            app.signals.emit("jobs.enqueued", ids=[ref.id for ref in refs if ref.created])
    elif hasattr(tx, "inner"):
        tx.enqueued.extend(ref.id for ref in refs if ref.created)
    return refs


def _id(job: str | JobRef) -> str:
    if isinstance(job, JobRef):
        return job.id
    if not isinstance(job, str):
        raise OptionError(f"a job is named by its id, a text, or by its JobRef; not by {job!r}")
    return job
