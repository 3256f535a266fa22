"""Transactions for your statements and jobs: both are committed, or neither."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar, copy_context
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack

from tenure.core.errors import OptionError, OutsideTransaction
from tenure.jobs.options import Options

if TYPE_CHECKING:
    from tenure.jobs.app_protocol import App
    from tenure.jobs.reference import JobRef

open_here: ContextVar[object | None] = ContextVar("tenure_open_transaction", default=None)
"""The Tenure transaction that this thread or task has open."""


def check_inside(tx: Any) -> None:
    """Refuse an enqueue outside of the open transaction: a rollback would not remove the job."""
    if tx is None and open_here.get() is not None:
        raise OutsideTransaction


class OpenTransaction:
    """The `tx` of `with app.transaction() as tx` and `with job.settle() as tx`."""

    def __init__(self, app: App, inner: Any) -> None:
        self._app = app
        self.inner = inner
        self.enqueued: list[str] = []

    @property
    def connection(self) -> Any:
        """The driver's own connection."""
        return self.inner.connection

    def execute(self, sql: str, parameters: Any = (), /, **named: Any) -> Any:
        """Run your statement; returns the cursor.

        Named values work on every database: `tx.execute("… where id = :id", id=42)`. A list or
        tuple is passed on in the driver's own style (`?` or `%s`).
        """
        return self.inner.execute(sql, parameters, **named)

    def enqueue(self, kind: str, payload: Any = None, **options: Unpack[Options]) -> JobRef:
        """Add a job that exists if and only if this transaction commits."""
        options["tx"] = self
        return self._app.enqueue(kind, payload, **options)

    def tell(self) -> None:
        """Wake the workers of this process after the commit."""
        if self.enqueued:
            self._app.signals.emit("jobs.enqueued", ids=self.enqueued)


class OwnThread:
    """The thread of one async transaction.

    In a shared pool, transactions that wait for this one's locks could hold every thread that it
    needs to end. And a statement that still runs when its task is cancelled must be over before
    the rollback: one thread keeps that order.
    """

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="tenure-transaction")

    async def call(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Run it in the thread, in the caller's context."""
        # With the context: the transaction is marked as open in a context variable.
        run = partial(copy_context().run, function, *args, **kwargs)
        return await asyncio.get_running_loop().run_in_executor(self._pool, run)

    def leave(self, function: Callable[..., Any], *args: Any) -> None:
        """Run it after what runs there now, without waiting for it."""
        self._pool.submit(function, *args)

    def end(self) -> None:
        """Let the thread end after its last call."""
        self._pool.shutdown(wait=False)


class AsyncOpenTransaction:
    """The same in a coroutine: calls are awaited, and nothing blocks the loop.

    Without a thread it is the user's own async transaction.
    """

    def __init__(self, app: App, inner: Any, thread: OwnThread | None) -> None:
        self._app = app
        self._plain = OpenTransaction(app, inner)
        self._thread = thread
        self.inner = inner
        self.enqueued = self._plain.enqueued
        self.tell = self._plain.tell

    async def execute(self, sql: str, parameters: Any = (), /, **named: Any) -> list[Any]:
        """Run your statement in the transaction's thread; returns its rows."""
        if self._thread is None:
            raise OptionError("this block joined your own connection: run your statements on it")
        rows: list[Any] = await self._thread.call(self._rows, sql, parameters, named)
        return rows

    async def enqueue(self, kind: str, payload: Any = None, **options: Unpack[Options]) -> JobRef:
        """Add a job that exists if and only if this transaction commits."""
        if self._thread is None:
            options["tx"] = self.inner
            return await self._app.enqueue_async(kind, payload, **options)
        ref: JobRef = await self._thread.call(self._plain.enqueue, kind, payload, **options)
        return ref

    def _rows(self, sql: str, parameters: Any, named: dict[str, Any]) -> list[Any]:
        cursor = self._plain.execute(sql, parameters, **named)
        return list(cursor.fetchall()) if cursor.description else []
