"""Moves over many jobs: one request starts it, and any process answers how far it is.

The record of a move holds its filter and how far it is, so a move outlives its process: another API
process goes on with one that was interrupted by a shutdown, or whose process went silent. Some jobs
of the last chunk may then be looked at again; those already moved do not match any more.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace

from tenure.access.scoped_jobs import ScopedJobs
from tenure.api.kept_operations import (
    COLLECTION,
    KeptOperations,
    Operation,
    OperationState,
    Overtaken,
    Stopped,
)
from tenure.api.stored_filter import filter_data, filter_of
from tenure.app import Tenure
from tenure.core.errors import StoreError
from tenure.core.filter import JobFilter
from tenure.core.scope import Scope
from tenure.operations.operator import Watcher
from tenure.stores.contract import Changed

TOLD_EVERY = 0.3
WAITING_TOLD_EVERY = 10.0
LOOK_EVERY = 15.0
# Each keeps a connection busy; more at a time would only compete for the same rows.
AT_A_TIME = 2
Move = Callable[[Watcher], Changed]

__all__ = ["COLLECTION", "Move", "Operation", "OperationState", "Operations"]


class Operations:
    """The operations of this process run two at a time; their progress is in the database. Running
    ones renew the records of waiting ones, so that those do not count as lost.
    """

    def __init__(self, engine: Tenure) -> None:
        self._engine = engine
        self._kept = KeptOperations(engine)
        self._runner = secrets.token_hex(8)
        self._pool = ThreadPoolExecutor(AT_A_TIME, thread_name_prefix="tenure-operation")
        self._keeper = threading.Thread(target=self._keep, name="tenure-operations", daemon=True)
        self._stopping = threading.Event()
        self._waiting: dict[str, Operation] = {}
        self._lock = threading.Lock()
        self._told_waiting = time.monotonic()

    def start(self) -> None:
        """Look for abandoned operations from now on."""
        self._keeper.start()

    def preview(self, jobs: ScopedJobs, action: str, total: int) -> Operation:
        """The operation as it would begin; nothing is changed."""
        return self._new(jobs, action, total, OperationState.PREVIEW, None)

    def begin(
        self,
        jobs: ScopedJobs,
        action: str,
        total: int,
        move: Move,
        where: JobFilter | None = None,
    ) -> tuple[Operation, Future[Operation]]:
        """Start it. Other requests find it from now on; the future holds its end. One without a
        filter ends with its process.
        """
        made = self._new(jobs, action, total, OperationState.RUNNING, secrets.token_hex(8))
        data = None if where is None else filter_data(where)
        operation = replace(made, where=data, runner=self._runner)
        # Stored before it starts: the answer to this request may be followed in another process.
        self._kept.tell(operation)
        self._kept.sweep()
        return operation, self._submit(operation, move)

    def get(self, name: str, scope: Scope) -> Operation:
        """An operation within the caller's scope."""
        return self._kept.get(name, scope)

    def recent(self, scope: Scope) -> list[Operation]:
        """Operations within the caller's scope, newest first."""
        return self._kept.recent(scope)

    def stop(self, name: str, scope: Scope) -> Operation:
        """Ask an operation to stop between two chunks. What it has changed stays."""
        return self._kept.ask_to_stop(name, scope)

    def adopt(self) -> int:
        """Go on with abandoned operations; returns how many."""
        adopted = self._kept.adopt(self._runner)
        for operation in adopted:
            self._submit(operation, _rest(self._engine, operation))
        return len(adopted)

    def close(self) -> None:
        """Stop running operations between two chunks, and wait. Waiting ones do not begin."""
        self._stopping.set()
        if self._keeper.is_alive():
            self._keeper.join()
        self._pool.shutdown(wait=True, cancel_futures=True)
        with suppress(StoreError):
            self._tell_waiting(OperationState.STOPPED, interrupted=True)

    def _keep(self) -> None:
        """Until the service shuts down. A database that is away is asked again later."""
        while not self._stopping.is_set():
            with suppress(StoreError):
                self.adopt()
            self._stopping.wait(LOOK_EVERY)

    def _submit(self, operation: Operation, move: Move) -> Future[Operation]:
        self._waiting[str(operation.id)] = operation
        return self._pool.submit(self._run, operation, move)

    def _new(
        self, jobs: ScopedJobs, action: str, total: int, state: OperationState, name: str | None
    ) -> Operation:
        return Operation(
            id=name,
            action=action,
            state=state,
            total=total,
            tenant=jobs.scope.tenant,
            owner=jobs.scope.owner,
            actor=jobs.actor,
            started_at=self._engine.store.now().isoformat(),
        )

    def _run(self, operation: Operation, move: Move) -> Operation:
        with self._lock:
            self._waiting.pop(str(operation.id), None)
        teller = _Teller(operation, self._tell_on, self._stopping)
        try:
            teller.tell()  # it may have been stopped while it waited
            done = move(teller.hear)
        except Stopped:
            left = not teller.operation.stop
            ended = replace(teller.operation, state=OperationState.STOPPED, interrupted=left)
        except Overtaken:
            return teller.operation
        except Exception as error:
            text = f"{type(error).__name__}: {error}"[:500]
            ended = replace(teller.operation, state=OperationState.FAILED, error=text)
        else:
            ended = replace(_counted(operation, done), state=OperationState.DONE)
        with suppress(Overtaken):
            self._kept.tell(ended)
        return ended

    def _tell_on(self, operation: Operation) -> Operation:
        told = self._kept.tell(operation)
        if time.monotonic() - self._told_waiting >= WAITING_TOLD_EVERY:
            self._told_waiting = time.monotonic()
            self._tell_waiting(OperationState.RUNNING)
        return told

    def _tell_waiting(self, state: OperationState, *, interrupted: bool = False) -> None:
        """Store the state of waiting operations. The lock: one may begin right now."""
        for name in list(self._waiting):
            with self._lock, suppress(Overtaken):
                if (found := self._waiting.get(name)) is not None:
                    self._kept.tell(replace(found, state=state, interrupted=interrupted))


class _Teller:
    """Stores the progress of a move, at most every TOLD_EVERY seconds."""

    def __init__(
        self,
        operation: Operation,
        tell: Callable[[Operation], Operation],
        stopping: threading.Event,
    ) -> None:
        self.operation = operation
        self._tell = tell
        self._stopping = stopping
        self._told_at = time.monotonic()

    def hear(self, total: Changed) -> None:
        self.operation = _counted(self.operation, total)
        if self._stopping.is_set():
            raise Stopped
        if time.monotonic() - self._told_at >= TOLD_EVERY:
            self.tell()

    def tell(self) -> None:
        """Store it, and read whether an operator has stopped it."""
        self._told_at = time.monotonic()
        self.operation = self._tell(self.operation)
        if self.operation.stop:
            raise Stopped


def _rest(engine: Tenure, operation: Operation) -> Move:
    """The move from where it was left, in the scope of the caller who began it."""
    jobs = ScopedJobs(engine, Scope(operation.tenant, operation.owner), operation.actor)
    moves = {"replay": jobs.replay, "cancel": jobs.cancel_all}
    start = Changed(
        matched=operation.matched,
        changed=operation.changed,
        refused=operation.refused_ids,
        next=operation.after,
    )
    where = filter_of(operation.where or {})
    return lambda watch: moves[operation.action](where, watch=watch, start=start)


def _counted(operation: Operation, total: Changed) -> Operation:
    return replace(
        operation,
        matched=total.matched,
        changed=total.changed,
        refused_ids=tuple(total.refused),
        after=total.next,
    )
