"""A transaction in a user's hands: their statements and Tenure's jobs, both or neither."""

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
    """An enqueue beside an open transaction would be durable even if that one rolls back."""
    if tx is None and open_here.get() is not None:
        raise OutsideTransaction


class OpenTransaction:
    """What `with app.transaction() as tx` and `with job.settle() as tx` give."""

    def __init__(self, app: App, inner: Any) -> None:
        self._app = app
        self.inner = inner
        self.enqueued: list[str] = []

    @property
    def connection(self) -> Any:
        """The driver's connection, for whatever this class does not offer."""
        return self.inner.connection

    def execute(self, sql: str, parameters: Any = (), /, **named: Any) -> Any:
        """Your statement; answers the cursor.

        Values by name are the same on every database: `tx.execute("… where id = :id", id=42)`. A
        list or tuple of them is for the driver's own style (`?` or `%s`).
        """
        return self.inner.execute(sql, parameters, **named)

    def enqueue(self, kind: str, payload: Any = None, **options: Unpack[Options]) -> JobRef:
        """A job that exists if and only if this transaction commits."""
        options["tx"] = self
        return self._app.enqueue(kind, payload, **options)

    def tell(self) -> None:
        """It has committed: workers of this process need not wait for their next poll."""
        if self.enqueued:
            self._app.signals.emit("jobs.enqueued", ids=self.enqueued)


class OwnThread:
    """The thread of one async transaction.

    In a shared pool the transactions that wait for this one's locks could take every thread that
    it needs to end; and a statement that is still running when its task is cancelled must be over
    before the rollback.
    """

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="tenure-transaction")

    async def call(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Run it there, in the caller's context."""
        run = partial(copy_context().run, function, *args, **kwargs)
        return await asyncio.get_running_loop().run_in_executor(self._pool, run)

    def leave(self, function: Callable[..., Any], *args: Any) -> None:
        """Run it behind whatever runs there now; nobody waits for it."""
        self._pool.submit(function, *args)

    def end(self) -> None:
        """No more calls."""
        self._pool.shutdown(wait=False)


class AsyncOpenTransaction:
    """The same in a coroutine: every call is awaited, and nothing blocks the loop.

    Without a thread of ours it is the caller's own async transaction.
    """

    def __init__(self, app: App, inner: Any, thread: OwnThread | None) -> None:
        self._app = app
        self._plain = OpenTransaction(app, inner)
        self._thread = thread
        self.inner = inner
        self.enqueued = self._plain.enqueued
        self.tell = self._plain.tell

    async def execute(self, sql: str, parameters: Any = (), /, **named: Any) -> list[Any]:
        """Your statement, on a store thread; answers its rows. Values as in a plain one."""
        if self._thread is None:
            raise OptionError("this block joined your own connection: run your statements on it")
        rows: list[Any] = await self._thread.call(self._rows, sql, parameters, named)
        return rows

    async def enqueue(self, kind: str, payload: Any = None, **options: Unpack[Options]) -> JobRef:
        """A job that exists if and only if this transaction commits."""
        if self._thread is None:
            options["tx"] = self.inner
            return await self._app.enqueue_async(kind, payload, **options)
        ref: JobRef = await self._thread.call(self._plain.enqueue, kind, payload, **options)
        return ref

    def _rows(self, sql: str, parameters: Any, named: dict[str, Any]) -> list[Any]:
        cursor = self._plain.execute(sql, parameters, **named)
        return list(cursor.fetchall()) if cursor.description else []
