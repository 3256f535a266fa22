"""Moves over many jobs: one request starts it, and any process answers how far it is."""

from __future__ import annotations

import re
import secrets
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from tenure.access.scoped_jobs import ScopedJobs
from tenure.api.kit.errors import OperationNotFound
from tenure.api.kit.expiring_records import ExpiringRecords
from tenure.app import Tenure
from tenure.core.errors import StoreError
from tenure.core.scope import Scope
from tenure.operations.operator import Watcher
from tenure.stores.contract import Changed
from tenure.stores.contract.parts import Record

COLLECTION = "operations"
NAME = re.compile("[0-9a-f]{16}")
KEPT_SECONDS = 86_400.0
TOLD_EVERY = 0.3
WAITING_TOLD_EVERY = 10.0
# Six times WAITING_TOLD_EVERY: a slow database does not make an operation look lost.
SILENT_SECONDS = 60.0
# Each keeps a connection busy; more at a time would only compete for the same rows.
AT_A_TIME = 2
Move = Callable[[Watcher], Changed]


class OperationState(StrEnum):
    """`lost`: its process stopped reporting. What it has changed stays; start it again."""

    PREVIEW = "preview"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    STOPPED = "stopped"
    LOST = "lost"


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """The progress of a move. `total` is how many jobs matched when it began."""

    id: str | None
    action: str
    state: OperationState
    total: int
    tenant: str | None
    owner: str | None
    actor: str
    started_at: str
    matched: int = 0
    changed: int = 0
    refused_ids: tuple[str, ...] = ()
    error: str | None = None


class Stopped(Exception):
    """The service shuts down: the rest of the operation is not done."""


class Operations:
    """The operations of this process run two at a time; their progress is in the database. Running
    ones renew the records of waiting ones, so that those do not count as lost.
    """

    def __init__(self, engine: Tenure) -> None:
        self._engine = engine
        self._records = ExpiringRecords(engine, COLLECTION, KEPT_SECONDS)
        self._pool = ThreadPoolExecutor(AT_A_TIME, thread_name_prefix="tenure-operation")
        self._stopping = threading.Event()
        self._waiting: dict[str, Operation] = {}
        self._lock = threading.Lock()
        self._told_waiting = time.monotonic()

    def preview(self, jobs: ScopedJobs, action: str, total: int) -> Operation:
        """The operation as it would begin; nothing is changed."""
        return self._new(jobs, action, total, OperationState.PREVIEW, None)

    def begin(
        self, jobs: ScopedJobs, action: str, total: int, move: Move
    ) -> tuple[Operation, Future[Operation]]:
        """Start it. Other requests find it from now on; the future holds its end."""
        operation = self._new(jobs, action, total, OperationState.RUNNING, secrets.token_hex(8))
        # Stored before it starts: the answer to this request may be followed in another process.
        self._tell(operation)
        self._records.sweep()
        self._waiting[str(operation.id)] = operation
        return operation, self._pool.submit(self._run, operation, move)

    def get(self, name: str, scope: Scope) -> Operation:
        """An operation within the caller's scope."""
        record = self._records.find(name) if NAME.fullmatch(name) else None
        if record is None or not scope.holds(record.data["tenant"], record.data["owner"]):
            raise OperationNotFound(name)
        return self._seen(record)

    def close(self) -> None:
        """Stop running operations between two chunks, and wait. Waiting ones do not begin."""
        self._stopping.set()
        self._pool.shutdown(wait=True, cancel_futures=True)
        with suppress(StoreError):
            self._tell_waiting(OperationState.STOPPED)

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
            done = move(teller.hear)
        except Stopped:
            ended = replace(teller.operation, state=OperationState.STOPPED)
        except Exception as error:
            text = f"{type(error).__name__}: {error}"[:500]
            ended = replace(teller.operation, state=OperationState.FAILED, error=text)
        else:
            ended = replace(_counted(operation, done), state=OperationState.DONE)
        self._tell(ended)
        return ended

    def _tell_on(self, operation: Operation) -> None:
        self._tell(operation)
        if time.monotonic() - self._told_waiting >= WAITING_TOLD_EVERY:
            self._told_waiting = time.monotonic()
            self._tell_waiting(OperationState.RUNNING)

    def _tell_waiting(self, state: OperationState) -> None:
        """Store the state of waiting operations. The lock: one may begin right now.e"""
        for name in list(self._waiting):
            with self._lock:
                if (found := self._waiting.get(name)) is not None:
                    self._tell(replace(found, state=state))

    def _tell(self, operation: Operation) -> None:
        data: dict[str, Any] = asdict(operation)
        self._engine.store.records.upsert(self._records.record(data.pop("id"), data))

    def _seen(self, record: Record) -> Operation:
        data = {**record.data, "refused_ids": tuple(record.data["refused_ids"])}
        operation = Operation(id=record.name, **data)
        if operation.state == OperationState.RUNNING and self._silent(record.updated_at):
            return replace(operation, state=OperationState.LOST)
        return operation

    def _silent(self, told_at: datetime | None) -> bool:
        now = self._engine.store.now()
        return told_at is None or (now - told_at).total_seconds() > SILENT_SECONDS


class _Teller:
    """Stores the progress of a move, at most every TOLD_EVERY seconds."""

    def __init__(
        self, operation: Operation, tell: Callable[[Operation], None], stopping: threading.Event
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
            self._told_at = time.monotonic()
            self._tell(self.operation)


def _counted(operation: Operation, total: Changed) -> Operation:
    return replace(
        operation,
        matched=total.matched,
        changed=total.changed,
        refused_ids=tuple(total.refused),
    )
