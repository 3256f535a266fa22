"""A jobs part that keeps jobs in a dictionary and lacks nearly every ability.

It writes the nine operations of the contract and no more. Its ids are no numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from threading import RLock
from typing import Any

from tenure.core.capability import Capability
from tenure.core.errors import OptionError
from tenure.core.filter import JobFilter
from tenure.core.job import Job, NewJob, State
from tenure.core.lease import ClaimedJob, Lease
from tenure.core.page import MAX_PAGE, Cursor, Page
from tenure.core.rules.retention import ORDINARY, Purged
from tenure.core.settlement import Settlement
from tenure.core.timing.clock import to_micros
from tenure.stores.contract import (
    Added,
    Change,
    Changed,
    Claim,
    ClaimRequest,
    Extension,
    JobStore,
    Move,
)

LATE = {State.QUEUED, State.FAILED, State.DEAD}
AGAIN = {State.FAILED, State.DEAD, State.CANCELED, State.NOT_FOUND, State.SKIPPED}
WALKED = 1_000


class MemoryJobs(JobStore):
    """One process, one lock, no durability."""

    name = "memory"
    capabilities = frozenset({Capability.SUB_SECOND})

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self._jobs: dict[str, Job] = {}
        self._lock = RLock()
        self._made = 0

    def add(
        self, jobs: Sequence[NewJob], tx: Any = None, *, notify: str | None = None
    ) -> list[Added]:
        with self._lock:
            return [Added(self._add(job)) for job in jobs]

    def _add(self, new: NewJob) -> str:
        self._made += 1
        now = self._now()
        job_id = f"m{self._made:09}"
        run_at = (new.run_at or now) + timedelta(seconds=new.delay_seconds)
        self._jobs[job_id] = Job(
            id=job_id, kind=new.kind, queue=new.queue, state=State.QUEUED, priority=new.priority,
            tenant=new.tenant, owner=new.owner, attempt=0, max_attempts=new.max_attempts, fence=0,
            hold=0, run_at=run_at, created_at=now, started_at=None, finished_at=None,
            expires_at=None, lease_owner=None, lease_until=None, cancel_requested=False, key=None,
            reason=None, progress=None, progress_note=None, correlation_id=new.correlation_id,
            trace=new.trace, enqueued_by=new.enqueued_by, ordering_key=None, batch_id=None,
            seq=new.seq, snoozes=0, refunds=0, payload_json=new.payload, waits_for=(),
        )  # fmt: skip
        return job_id

    def claim(self, request: ClaimRequest) -> Claim:
        with self._lock:
            ended, released = self._recover()
            free, taken = dict(request.slots), list[ClaimedJob]()
            for job in sorted(
                self._due(request), key=lambda job: (job.priority, job.run_at, job.id)
            ):
                if free.get(job.queue, 0) > 0:
                    free[job.queue] -= 1
                    taken.append(self._take(job, request))
            return Claim(taken, ended, released)

    def _due(self, request: ClaimRequest) -> list[Job]:
        now, queued = self._now(), self._with(State.QUEUED)
        due = [job for job in queued if job.kind in request.kinds and job.run_at <= now]
        return sorted(due, key=lambda job: (job.priority, job.run_at, job.id))

    def _take(self, job: Job, request: ClaimRequest) -> ClaimedJob:
        now = self._now()
        job = self._put(
            replace(
                job,
                state=State.RUNNING,
                attempt=job.attempt + 1,
                fence=job.fence + 1,
                started_at=now,
                lease_owner=request.owner,
                lease_until=now + timedelta(seconds=request.lease_seconds),
            )
        )
        return ClaimedJob(
            Lease(job.id, job.fence, request.owner),
            job.kind,
            job.queue,
            job.payload_json or "",
            job.priority,
            job.tenant,
            job.attempt,
            job.max_attempts,
            to_micros(now),
            owner=job.owner,
            snoozes=job.snoozes,
            refunds=job.refunds,
            correlation_id=job.correlation_id,
            trace=job.trace,
            cancel_requested=job.cancel_requested,
        )

    def _recover(self) -> tuple[list[tuple[str, State, str]], dict[str, str]]:
        ended, released = list[tuple[str, State, str]](), dict[str, str]()
        for job in self._with(State.RUNNING):
            if job.lease_until is None or job.lease_until >= self._now():
                continue
            if job.cancel_requested or job.attempt >= job.max_attempts:
                canceled = job.cancel_requested
                state = State.CANCELED if canceled else State.DEAD
                reason = "canceled" if canceled else "worker_crashed"
                ended.append((job.id, state, reason))
                self._end(job, state, reason)
            else:
                released[job.id] = job.queue
                self._put(_unheld(job, State.QUEUED, crashes=job.crashes + 1))
        return ended, released

    def extend(self, leases: Sequence[Lease], seconds: float) -> Extension:
        with self._lock:
            held = [job for lease in leases if (job := self._held(lease)) is not None]
            until = self._now() + timedelta(seconds=seconds)
            for job in held:
                self._put(replace(job, lease_until=until))
            lost = {lease.job_id for lease in leases} - {job.id for job in held}
            return Extension(
                frozenset(lost), frozenset(job.id for job in held if job.cancel_requested)
            )

    def settle(self, settlements: Sequence[Settlement], tx: Any = None) -> frozenset[str]:
        with self._lock:
            found = [(item, self._held(item.lease)) for item in settlements]
            applied = [(item, job) for item, job in found if job is not None]
            for item, job in applied:
                self._settle(item, job)
            return frozenset(job.id for _, job in applied)

    def _settle(self, item: Settlement, job: Job) -> None:
        attempt = job.attempt - item.refund
        if item.state is State.QUEUED and job.cancel_requested:
            self._end(replace(job, attempt=attempt), State.CANCELED, "canceled")
        elif item.state is State.QUEUED:
            later = self._now() + timedelta(seconds=item.delay_seconds)
            self._put(
                _unheld(
                    job,
                    State.QUEUED,
                    attempt=attempt,
                    run_at=job.run_at if item.returned else later,
                    snoozes=job.snoozes + item.snooze,
                    refunds=job.refunds + (item.refund and not item.snooze and not item.returned),
                    reason=item.reason,
                )
            )
        else:
            self._end(
                replace(job, attempt=attempt, result_json=item.result), item.state, item.reason
            )

    def get(self, job_id: str) -> Job | None:
        return self._jobs.get(job_id)

    def page(self, where: JobFilter, limit: int = 50, after: str | None = None) -> Page[Job]:
        if not 1 <= limit <= MAX_PAGE:
            raise OptionError(f"a page has 1 to {MAX_PAGE} rows, not {limit}")
        last = "n" if after is None else _position(after)
        found = [job for job in reversed(self._matching(where)) if job.id < last]
        shown = [_listed(job) for job in found[:limit]]
        return Page(shown, Cursor((shown[-1].id,)).encode() if len(found) > limit else None)

    def count(self, where: JobFilter) -> Mapping[State, int]:
        return Counter(job.state for job in self._matching(where))

    def change(
        self, where: JobFilter, change_: Change, after: str | None = None, limit: int = 500
    ) -> Changed:
        with self._lock:
            found = [job for job in self._matching(where) if after is None or job.id > after]
            chunk = found[:limit]
            refused = [job.id for job in chunk if not self._move(job, change_)]
            return Changed(
                matched=len(chunk),
                changed=len(chunk) - len(refused),
                refused=refused,
                next=chunk[-1].id if len(chunk) == limit else None,
            )

    def _move(self, job: Job, change: Change) -> bool:
        if change.move is Move.CANCEL and job.state is State.RUNNING:
            self._put(replace(job, cancel_requested=True))
        elif change.move is Move.CANCEL and job.state in LATE:
            self._end(replace(job, fence=job.fence + 1), State.CANCELED, "canceled")
        elif change.move is Move.RETRY and job.state is State.QUEUED:
            self._put(replace(job, run_at=self._now()))
        elif change.move is Move.RETRY and job.state in AGAIN:
            fresh = replace(job, attempt=0, fence=job.fence + 1, run_at=self._now())
            fresh = replace(
                fresh, snoozes=0, refunds=0, crashes=0, cancel_requested=False, result_json=None
            )
            self._put(_unheld(fresh, State.QUEUED, finished_at=None, reason=None, started_at=None))
        elif change.move is Move.REPRIORITISE and job.state is State.QUEUED:
            self._put(replace(job, priority=change.priority or 0))
        else:
            return False
        return True

    def purge(
        self, where: JobFilter, before: datetime, limit: int = 500, after: str | None = None
    ) -> Purged:
        if before.utcoffset() is None:
            raise OptionError(f"before must have a time zone, not {before!r}")
        if after is not None and after[1:].isdigit() is False:
            raise OptionError(f"{after!r} is not a position in this move")
        with self._lock:
            named = ORDINARY if where.states is None else where.states
            walk = [job for job in self._jobs.values() if after is None or job.id > after]
            matching = {job.id for job in self._matching(where)}
            walked = walk[:WALKED] if where.ids is None and where.states is None else walk
            old = [
                job for job in walked if job.finished_at is not None and job.finished_at < before
            ]
            over = [job for job in old if job.state in named and job.id in matching][:limit]
            for job in over:
                del self._jobs[job.id]
            if len(over) == limit:
                return Purged(removed=limit, next=over[-1].id)
            if len(walked) == len(walk):
                return Purged(removed=len(over))
            edge = walked[-1]
            return Purged(removed=len(over), next=edge.id, reached=edge.created_at)

    def _matching(self, where: JobFilter) -> list[Job]:
        for name in ("created_after", "created_before", "finished_before"):
            moment = getattr(where, name)
            if moment is not None and moment.utcoffset() is None:
                raise OptionError(f"{name} must have a time zone")
        return [job for job in list(self._jobs.values()) if _matches(job, where)]

    def _with(self, state: State) -> list[Job]:
        return [job for job in list(self._jobs.values()) if job.state is state]

    def _held(self, lease: Lease) -> Job | None:
        job = self._jobs.get(lease.job_id)
        held = job is not None and job.state is State.RUNNING and job.fence == lease.fence
        return job if held else None

    def _end(self, job: Job, state: State, reason: str | None) -> None:
        self._put(_unheld(job, state, finished_at=self._now(), reason=reason))

    def _put(self, job: Job) -> Job:
        self._jobs[job.id] = job
        return job


def _unheld(job: Job, state: State, **changes: Any) -> Job:
    return replace(job, state=state, lease_owner=None, lease_until=None, **changes)


def _position(after: str) -> str:
    match Cursor.decode(after).position:
        case (str() as last,) if last.startswith("m") and last[1:].isdigit():
            return last
        case _:
            raise OptionError(f"{after!r} is not a cursor of this list")


def _matches(job: Job, where: JobFilter) -> bool:
    lists = ((where.ids, job.id), (where.kinds, job.kind), (where.queues, job.queue))
    same = ((where.tenant, job.tenant), (where.owner, job.owner), (where.key, job.key))
    more = ((where.correlation_id, job.correlation_id), (where.batch_id, job.batch_id))
    return (
        all(wanted is None or value in wanted for wanted, value in lists)
        and (where.states is None or job.state in where.states)
        and all(wanted is None or value == wanted for wanted, value in (*same, *more))
        and (where.created_after is None or job.created_at >= where.created_after)
        and (where.created_before is None or job.created_at < where.created_before)
        and (
            where.finished_before is None
            or (job.finished_at is not None and job.finished_at < where.finished_before)
        )
    )


def _listed(job: Job) -> Job:
    """As lists show it."""
    return replace(job, payload_json=None, result_json=None, waits_for=None)
