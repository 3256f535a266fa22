"""Operations in the database: their progress, who runs them, and whether to stop them."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime
from enum import StrEnum
from itertools import islice
from typing import Any

from tenure.api.kit.errors import OperationNotFound
from tenure.api.kit.expiring_records import ExpiringRecords
from tenure.api.stored_filter import filter_of
from tenure.app import Tenure
from tenure.core.errors import VersionConflict
from tenure.core.filter import summary
from tenure.core.scope import Scope
from tenure.stores.contract.parts import Record, every

COLLECTION = "operations"
NAME = re.compile("[0-9a-f]{16}")
KEPT_SECONDS = 86_400.0
# Six times WAITING_TOLD_EVERY: a slow database does not make an operation look lost.
SILENT_SECONDS = 60.0
TRIES = 10
LOOKED_AT = 5_000
SHOWN = 100


class OperationState(StrEnum):
    """`lost`: its process stopped reporting. What it has changed stays; an API process goes on with
    it within a minute.
    """

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
    where: dict[str, Any] | None = None
    after: str | None = None
    runner: str = ""
    stop: bool = False
    interrupted: bool = False

    @property
    def filter(self) -> str:
        """The conditions in a line."""
        return "" if self.where is None else summary(filter_of(self.where))


class Stopped(Exception):
    """The service shuts down, or an operator stops it: the rest of the operation is not done."""


class Overtaken(Exception):
    """Another process has gone on with the operation, because this one was silent for too long."""


class KeptOperations:
    """Every write is over the version that was read, so nobody overwrites a stop or an adoption."""

    def __init__(self, engine: Tenure) -> None:
        self._engine = engine
        self._records = ExpiringRecords(engine, COLLECTION, KEPT_SECONDS)
        self.sweep = self._records.sweep

    def tell(self, operation: Operation) -> Operation:
        """Store its progress; returns it with what an operator has asked meanwhile."""
        for _ in range(TRIES):
            record = self._records.find(str(operation.id))
            if record is not None:
                kept = _operation(record)
                if kept.runner != operation.runner:
                    raise Overtaken(operation.id)
                operation = replace(operation, stop=kept.stop)
            if self._put(operation, record):
                return operation
        raise VersionConflict(COLLECTION, str(operation.id))

    def get(self, name: str, scope: Scope) -> Operation:
        """One within the scope, or OperationNotFound."""
        return self._seen(self._find(name, scope))

    def recent(self, scope: Scope) -> list[Operation]:
        """Those within the scope, newest first."""
        found = [
            self._seen(record)
            for record in self._all()
            if scope.holds(record.data["tenant"], record.data["owner"])
        ]
        return sorted(found, key=lambda one: one.started_at, reverse=True)[:SHOWN]

    def ask_to_stop(self, name: str, scope: Scope) -> Operation:
        """A running one is asked; an abandoned one is stopped at once; one that ended stays."""
        for _ in range(TRIES):
            record = self._find(name, scope)
            asked = replace(_operation(record), stop=True)
            if self._abandoned(record):
                asked = replace(asked, state=OperationState.STOPPED, interrupted=False)
            elif asked.state is not OperationState.RUNNING:
                return self._seen(record)
            if self._put(asked, record):
                return asked
        raise VersionConflict(COLLECTION, name)

    def adopt(self, runner: str) -> list[Operation]:
        """Take those that nobody goes on with. Of two processes one gets each."""
        taken = []
        for record in filter(self._abandoned, self._all()):
            running = replace(_operation(record), state=OperationState.RUNNING)
            mine = replace(running, runner=runner, interrupted=False)
            if mine.where is not None and self._put(mine, record):
                taken.append(mine)
        return taken

    def _all(self) -> list[Record]:
        found = islice(every(self._engine.store.records, COLLECTION), LOOKED_AT)
        return [record for record in found if self._records.good(record)]

    def _find(self, name: str, scope: Scope) -> Record:
        record = self._records.find(name) if NAME.fullmatch(name) else None
        if record is None or not scope.holds(record.data["tenant"], record.data["owner"]):
            raise OperationNotFound(name)
        return record

    def _put(self, operation: Operation, before: Record | None) -> bool:
        data: dict[str, Any] = asdict(operation)
        version = 0 if before is None else before.version
        try:
            self._engine.store.records.put(self._records.record(data.pop("id"), data, version))
        except VersionConflict:
            return False
        return True

    def _abandoned(self, record: Record) -> bool:
        """Whether no process goes on with it, though it has not ended."""
        operation = _operation(record)
        if operation.state is OperationState.RUNNING:
            return self._silent(record.updated_at)
        return operation.state is OperationState.STOPPED and operation.interrupted

    def _seen(self, record: Record) -> Operation:
        operation = _operation(record)
        if operation.state is OperationState.RUNNING and self._silent(record.updated_at):
            return replace(operation, state=OperationState.LOST)
        return operation

    def _silent(self, told_at: datetime | None) -> bool:
        now = self._engine.store.now()
        return told_at is None or (now - told_at).total_seconds() > SILENT_SECONDS


def _operation(record: Record) -> Operation:
    """Unknown fields of newer code are ignored."""
    known = {one.name for one in fields(Operation)}
    data = {name: value for name, value in record.data.items() if name in known}
    data["refused_ids"] = tuple(data["refused_ids"])
    data["state"] = OperationState(data["state"])
    return Operation(id=record.name, **data)
