"""Queues, locks, records and steps: the small stores beside the jobs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from tenure.core.errors import VersionConflict
from tenure.core.job import Job, Placement, State
from tenure.core.lease import Lease
from tenure.core.rules.shares import Lane
from tenure.core.rules.why import MOST_AHEAD
from tenure.core.timing.clock import from_micros, seconds_to_micros, to_micros
from tenure.stores.contract.parts import (
    COUNTED_AT_MOST,
    HELD_COUNTED_AT_MOST,
    PAGE,
    QUEUES_AT_MOST,
    Depth,
    HeldLock,
    Load,
    QueueState,
    Record,
)
from tenure.stores.sql import rows
from tenure.stores.sql.claim import ageing
from tenure.stores.sql.database import Database
from tenure.stores.sql.foreign.transaction import run_in
from tenure.stores.sql.statement import Plan, Rows, Statement
from tenure.stores.sql.write import placement as place


def one(statement: Statement) -> Plan[Rows]:
    """A plan of a single statement."""
    return (yield statement)


class SqlQueues:
    """See `tenure.stores.contract.QueueStore`. `changed(name, paused)` is called where a queue
    was paused or resumed or got jobs of another, `revived(lanes)` for lanes of lifted jobs.
    """

    def __init__(
        self,
        database: Database,
        changed: Callable[[str, bool], None],
        revived: Callable[[Sequence[Lane]], None],
    ) -> None:
        self._database = database
        self._changed = changed
        self._revived = revived
        self._walks: dict[str, ageing.Walk] = {}

    def pause(self, name: str, actor: str) -> None:
        """Stop claiming from it."""
        self._set(name, True, actor)

    def resume(self, name: str, actor: str) -> None:
        """Claim from it again."""
        self._set(name, False, actor)

    def _set(self, name: str, paused: bool, actor: str) -> None:
        values = {"name": name, "paused": int(paused), "actor": actor}
        self._database.run(partial(one, Statement("pause_queue", values)))
        self._changed(name, paused)

    def list(self) -> Sequence[QueueState]:
        """Those ever paused."""
        return [
            QueueState(
                name=row[0],
                paused=bool(row[1]),
                since=None if row[2] is None else from_micros(row[2]),
                by=row[3],
            )
            for row in self._database.read(Statement("list_queues"))
        ]

    def depths(self) -> Sequence[Depth]:
        """Open jobs."""
        return [
            Depth(
                queue=row[0],
                kind=row[1],
                state=rows.STATES[row[2]],
                jobs=row[3],
                oldest_run_at=from_micros(row[4]),
            )
            for row in self._database.read(Statement("depths"))
        ]

    def loads(self) -> Sequence[Load]:
        """Queue by queue: each statement is small."""
        found = {name: self._load(name) for name in self._names()}
        limit = {"limit": HELD_COUNTED_AT_MOST}
        for queue, held in self._database.read(Statement("held_load", limit)):
            found[queue] = replace(found.get(queue, Load(queue=queue)), held=held)
        for queue, running in self._database.read(Statement("running_load", limit)):
            found[queue] = replace(found.get(queue, Load(queue=queue)), running=running)
        return [found[queue] for queue in sorted(found)]

    def _names(self) -> Iterator[str]:
        after = ""
        for _ in range(QUEUES_AT_MOST):
            found = self._database.read(Statement("next_queue", {"after": after}))
            if not found:
                return
            after = found[0][0]
            yield after

    def _load(self, queue: str) -> Load:
        values = {"queue": queue, "limit": COUNTED_AT_MOST}
        ready, due, oldest = self._database.read(Statement("queue_load", values))[0]
        at = None if oldest is None else from_micros(oldest)
        return Load(queue=queue, ready=ready, due=due, oldest_run_at=at)

    def ahead(self, job: Job) -> int:
        """As far as MOST_AHEAD."""
        values = {
            "queue": job.queue,
            "priority": job.priority,
            "tenant": job.tenant,
            "run_at": to_micros(job.run_at),
            "id": int(job.id),
            "limit": MOST_AHEAD + 1,
        }
        return int(self._database.read(Statement("jobs_ahead", values))[0][0])

    def head(self, job: Job) -> tuple[str, State] | None:
        """Running, next, or in the way."""
        values = {"tenant": job.tenant, "ordering_key": job.ordering_key or ""}
        found = self._database.read(Statement("order_head", values))
        return (str(found[0][0]), rows.STATES[found[0][1]]) if found else None

    def canceled(self, job_ids: Sequence[str]) -> frozenset[str]:
        """By their ids."""
        if not job_ids:
            return frozenset()
        asked = Statement("cancel_requests", {"ids": sorted(map(int, job_ids))})
        return frozenset(str(row[0]) for row in self._database.read(asked))

    def running(self, tenant: str) -> int:
        """Under live leases."""
        found = self._database.read(Statement("running_of_tenants", {"tenants": [tenant]}))
        return int(found[0][1]) if found else 0

    def place(self, handlers: Mapping[str, Placement]) -> int:
        """What handlers say, for jobs that were added without knowing them."""
        queues = self._database.run(partial(place.place, handlers)) if handlers else []
        for queue in set(queues):
            self._changed(queue, False)
        return len(queues)

    def lift(self, queue: str, seconds: float) -> int:
        """A part of the walk through its lanes."""
        walk = self._walks.setdefault(queue, ageing.Walk())
        lanes = self._database.run(partial(ageing.lift, queue, seconds, walk))
        self._revived(lanes)
        return len(lanes)

    def overdue(self, grace_seconds: float) -> int:
        """Abandoned and not taken up."""
        values = {"grace": seconds_to_micros(grace_seconds)}
        return int(self._database.read(Statement("stuck_jobs", values))[0][0])


class SqlLocks:
    """See `tenure.stores.contract.LockStore`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def acquire(self, name: str, owner: str, seconds: float) -> HeldLock | None:
        """A lock nobody holds now."""
        values = {"name": name, "owner": owner, "lease": seconds_to_micros(seconds)}
        found = self._database.run(partial(one, Statement("acquire_lock", values)))
        return HeldLock(name, owner, found[0][0]) if found else None

    def renew(self, lock: HeldLock, seconds: float) -> bool:
        """Whether it is still held."""
        values = {
            "name": lock.name, "fence": lock.fence, "lease": seconds_to_micros(seconds)
        }  # fmt: skip
        return bool(self._database.run(partial(one, Statement("renew_lock", values))))

    def release(self, lock: HeldLock) -> bool:
        """Give it back."""
        values = {"name": lock.name, "fence": lock.fence}
        return bool(self._database.run(partial(one, Statement("release_lock", values))))

    def list(self) -> Sequence[HeldLock]:
        """Those held now."""
        found = self._database.read(Statement("list_locks"))
        return [HeldLock(row[0], row[1], row[2]) for row in found]


class SqlRecords:
    """See `tenure.stores.contract.RecordStore`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, record: Record, tx: Any = None) -> Record:
        """Create with version 0, else only over the version that was read."""
        name = "update_record" if record.version else "create_record"
        found = self._write(name, record, tx)
        if not found:
            raise VersionConflict(record.collection, record.name)
        return replace(record, version=found[0][0])

    def upsert(self, record: Record, tx: Any = None) -> None:
        """The last writer wins."""
        self._write("upsert_record", record, tx)

    def _write(self, name: str, record: Record, tx: Any) -> Rows:
        values = {
            "collection": record.collection,
            "name": record.name,
            "version": record.version,
            "data": json.dumps(record.data),
        }
        return run_in(self._database, tx, partial(one, Statement(name, values)))

    def find(self, collection: str, name: str) -> Record | None:
        """One record."""
        values = {"collection": collection, "name": name}
        found = self._database.read(Statement("find_record", values))
        return rows.record(found[0]) if found else None

    def list(self, collection: str, after: str = "", limit: int = PAGE) -> Sequence[Record]:
        """By name."""
        values = {"collection": collection, "after": after, "limit": limit}
        return [rows.record(row) for row in self._database.read(Statement("list_records", values))]

    def remove(self, collection: str, name: str, tx: Any = None) -> bool:
        """Whether there was one."""
        values = {"collection": collection, "name": name}
        return bool(run_in(self._database, tx, partial(one, Statement("remove_record", values))))


class SqlSteps:
    """See `tenure.stores.contract.StepStore`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def remember(self, lease: Lease, name: str, result: str) -> bool:
        """Fenced; the same again where it has been written already."""
        values = {"id": int(lease.job_id), "fence": lease.fence, "name": name, "result": result}
        return bool(self._database.run(partial(one, Statement("remember_step", values))))

    def recall(self, job_id: str) -> Mapping[str, str]:
        """By name."""
        values = {"id": rows.row_id(job_id) or 0}
        return dict(self._database.read(Statement("recall_steps", values)))
