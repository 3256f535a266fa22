"""JobStore on a SQL database: each method is a plan, run in our transaction or the caller's."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar

from tenure.core.errors import (
    ContentRefused,
    OptionError,
    StoreBusy,
    StoreUnavailable,
    TenureError,
)
from tenure.core.filter import JobFilter
from tenure.core.job import Job, NewJob, State
from tenure.core.lease import Lease
from tenure.core.page import MAX_PAGE, Page
from tenure.core.rules.retention import Purged
from tenure.core.settlement import Settlement
from tenure.stores.contract import (
    Added,
    Attempt,
    Change,
    Changed,
    Claim,
    ClaimRequest,
    Extension,
    LogLine,
    Move,
    Report,
    Written,
)
from tenure.stores.sql import rows
from tenure.stores.sql.claim import claim
from tenure.stores.sql.claim.lane_cache import Memories, Memory
from tenure.stores.sql.database import Database, Transaction
from tenure.stores.sql.dialect import Trouble
from tenure.stores.sql.foreign.commit_hooks import when_committed
from tenure.stores.sql.foreign.transaction import adopt, adopt_async, run_in, run_in_async
from tenure.stores.sql.read.conditions import conditions
from tenure.stores.sql.read.page import read_page
from tenure.stores.sql.statement import Plan, Statement
from tenure.stores.sql.write import add, purge, settle
from tenure.stores.sql.write import operator_moves as change
from tenure.stores.sql.write.group_commit import Gather
from tenure.stores.sql.write.group_member import Answer
from tenure.stores.sql.write.settle import CAREFUL_SECONDS, PATIENCE_SECONDS, Settled
from tenure.wakeups.due_jobs import ANY_QUEUE, Due, Wakeups, due_queues

T = TypeVar("T")
WRITERS = 2


class SqlJobs:
    """See `tenure.stores.contract.JobStore`."""

    def __init__(self, database: Database, wakes: Wakeups) -> None:
        self._database = database
        self._wakes = wakes
        self.memories = Memories()
        self._gather = Gather(self._add_each, 1 if database.dialect.single_writer else WRITERS)

    def add(
        self, jobs: Sequence[NewJob], tx: Any = None, *, notify: str | None = None
    ) -> list[Added]:
        """All or none; who waits for such jobs hears of it."""
        words = self._words(jobs, notify)
        added = self._add(jobs, tx)
        if words is None:
            self._tell(jobs, added, tx)
        elif words:
            with adopt(self._database, tx) as executor:
                executor.execute(words)
        return added

    def _add(self, jobs: Sequence[NewJob], tx: Any) -> list[Added]:
        if not jobs:
            return []
        self.memories.learn(jobs)
        if tx is not None or not rows.are_plain(jobs):
            return run_in(self._database, tx, partial(add.add, jobs))
        if len(jobs) == 1:
            return [self._gather.add(jobs[0])]
        return self._database.run_loose(partial(add.add_plain, jobs))

    def _tell(self, jobs: Sequence[NewJob], added: Sequence[Added], tx: Any) -> None:
        """At once, or after the commit of the transaction, where we can know of it."""
        if not (queues := self._due(jobs)):
            return
        due = Due(queues, added[-1].id)
        if tx is None:
            self._wakes.tell(due)
        elif isinstance(tx, Transaction):
            tx.due = tx.due.with_more(due)
        else:
            when_committed(tx, self._wakes, due)

    def _due(self, jobs: Sequence[NewJob]) -> frozenset[str]:
        clock = self._database.clock
        return due_queues(jobs, datetime.now(UTC) if clock is None else clock.now())

    def _words(self, jobs: Sequence[NewJob], notify: str | None) -> str | None:
        """What to say inside the transaction; None where it is said after the commit."""
        if notify is None:
            return None
        if self._wakes.inside is None:
            raise OptionError(
                "notify='transaction' needs PostgreSQL and a TENURE_WAKE_CHANNEL; without it "
                "workers find the job at their next poll"
            )
        queues = self._due(jobs)
        return self._wakes.inside(queues) if queues else ""

    async def add_async(
        self, jobs: Sequence[NewJob], tx: Any = None, *, notify: str | None = None
    ) -> list[Added]:
        """All or none, in the caller's async transaction or by itself."""
        if tx is None and not (len(jobs) == 1 and rows.are_plain(jobs)):
            return await asyncio.to_thread(self.add, jobs)
        words = self._words(jobs, notify)
        self.memories.learn(jobs)
        added = await self._add_async(jobs, tx)
        if words is None:
            self._tell(jobs, added, tx)
        elif words:
            async with adopt_async(self._database, tx) as executor:
                await executor.execute(words)
        return added

    async def _add_async(self, jobs: Sequence[NewJob], tx: Any) -> list[Added]:
        if tx is None:
            return [await self._gather.add_async(jobs[0])]
        return await run_in_async(self._database, tx, partial(add.add, jobs)) if jobs else []

    def _add_each(self, jobs: Sequence[NewJob]) -> list[Answer]:
        """Plain jobs of several callers in one statement; where it fails for one, each alone."""
        try:
            return list(self._database.run_loose(partial(add.add_plain, jobs)))
        except StoreUnavailable as error:
            return [type(error)(str(error)) for _ in jobs]
        except Exception as error:
            if len(jobs) == 1:
                return [error]
        return [self._add_each([job])[0] for job in jobs]

    def claim(self, request: ClaimRequest) -> Claim:
        """Due jobs and abandoned ones."""
        return self._claimed(self._claim(request))

    def _claim(self, request: ClaimRequest) -> Claim:
        memory, elapsed = self.memories.of(request.owner, request.kinds), self._database.elapsed
        loose = self._database.dialect.loose and not request.limits
        if loose and not claim.must_sweep(request, memory, elapsed()):
            known = self._database.run_loose(partial(claim.claim_known, request, memory, elapsed))
            if known.jobs or not (request.woken or memory.lookout.may_sweep(elapsed())):
                return known
            if request.woken:
                return self._database.run_loose(partial(claim.glance, request, memory, elapsed))
            return self._calmly(memory, partial(claim.sweep, request, memory, elapsed))
        return self._calmly(memory, partial(claim.claim, request, memory, elapsed))

    def _calmly(self, memory: Memory, plan: Callable[[], Plan[T]]) -> T:
        """A sweep ends what is over; where a lock keeps it from that, it is left alone for now."""
        try:
            return self._database.run(plan, PATIENCE_SECONDS)
        except StoreBusy:
            memory.lookout.be_calm(self._database.elapsed())
            return self._database.run(plan)

    def exchange(
        self,
        settlements: Sequence[Settlement],
        reports: Sequence[Report],
        request: ClaimRequest | None,
        *,
        careful: bool = False,
    ) -> tuple[Written, Claim]:
        """Settle what is done, then claim what is next, in one transaction."""
        if request is None and not reports:
            return self._settle_now(settlements, careful=careful), Claim()
        memory = None if request is None else self.memories.of(request.owner, request.kinds)
        plan = partial(settle_and_claim, settlements, reports, request, memory, self._database)
        if memory is None or settlements:
            ended, claimed = self._named(partial(self._database.run, plan, PATIENCE_SECONDS))
        else:
            ended, claimed = self._calmly(memory, plan)
        return self._written(ended), self._claimed(claimed)

    def _claimed(self, found: Claim) -> Claim:
        """What went back to its queue is for whoever is idle."""
        if found.released:
            self._wakes.tell(Due(frozenset(found.released.values())))
        return found

    def extend(self, leases: Sequence[Lease], seconds: float) -> Extension:
        """Longer leases."""
        return self._database.run(partial(settle.extend, leases, seconds))

    def report(self, reports: Sequence[Report], tx: Any = None) -> frozenset[str]:
        """Progress and log lines."""
        if not reports:
            return frozenset()
        return run_in(self._database, tx, partial(settle.report, reports))

    def settle(self, settlements: Sequence[Settlement], tx: Any = None) -> frozenset[str]:
        """The end of runs."""
        if not settlements:
            return frozenset()
        if tx is not None or not self._database.dialect.loose:
            return self._settled(run_in(self._database, tx, partial(settle.settle, settlements)))
        simple = [item for item in settlements if item.entry is None and not item.returned]
        done = self._database.run_loose(partial(settle.settle_free, simple))
        rest = settle.left_of(settlements, done)
        ids = frozenset(map(str, done))
        self.memories.ended(ids)
        if not rest:
            return ids
        return self._settled(self._database.run(partial(settle.settle, rest))) | ids

    def _settle_now(self, settlements: Sequence[Settlement], *, careful: bool) -> Written:
        """The end of runs, as far as nobody else's transaction is in the way."""
        done: set[int] = set()
        if self._database.dialect.loose and not careful:
            simple = [item for item in settlements if item.entry is None and not item.returned]
            plan = partial(settle.settle_loosely, simple, PATIENCE_SECONDS, done)
            try:
                self._named(partial(self._database.run_loose, plan, once=True))
            except StoreBusy:
                careful = True
        ids = frozenset(map(str, done))
        self.memories.ended(ids)
        rest = settle.left_of(settlements, done)
        if not rest:
            return Written(ids)
        written = self._try(rest, careful)
        return written._replace(applied=written.applied | ids)

    def _try(self, settlements: Sequence[Settlement], careful: bool) -> Written:
        """Where a lock is met after all, the half in which it is, and so on down to the one."""
        patience = CAREFUL_SECONDS if careful else PATIENCE_SECONDS
        plan = partial(settle.settle_now, settlements, patience, careful=careful)
        try:
            return self._written(self._named(partial(self._database.run, plan, patience)))
        except StoreBusy:
            if not careful:
                return self._try(settlements, careful=True)
            if len(settlements) == 1:
                return Written(locked=frozenset([settlements[0].lease.job_id]))
        half = len(settlements) // 2
        first, second = (self._try(part, True) for part in (settlements[:half], settlements[half:]))
        return Written(first.applied | second.applied, first.locked | second.locked)

    def _named(self, action: Callable[[], T]) -> T:
        """A row that is refused for its content has an error of its own."""
        try:
            return action()
        except TenureError:
            raise
        except Exception as error:
            if self._database.dialect.trouble(error) is Trouble.REFUSED:
                raise ContentRefused(f"the database refuses a row: {error}") from error
            raise

    def _written(self, ended: Settled) -> Written:
        return Written(self._settled(ended), frozenset(map(str, ended.locked)))

    def _settled(self, ended: Settled) -> frozenset[str]:
        """Who got a job by it hears of that."""
        self.memories.ended(ended.ids)
        if ended.freed:
            self.memories.revive(ended.freed)
            self._wakes.tell(Due(frozenset(lane.queue for lane in ended.freed)))
        return ended.ids

    async def settle_async(self, settlements: Sequence[Settlement], tx: Any) -> frozenset[str]:
        """The end of runs, in the caller's async transaction."""
        ended = await run_in_async(self._database, tx, partial(settle.settle, settlements))
        return self._settled(ended)

    def get(self, job_id: str) -> Job | None:
        """With payload and result."""
        number = rows.row_id(job_id)
        if number is None:
            return None
        found = self._database.read(Statement("get_job", {"id": number}))
        return rows.job(found[0]) if found else None

    def page(self, where: JobFilter, limit: int = 50, after: str | None = None) -> Page[Job]:
        """Newest first."""
        if not 1 <= limit <= MAX_PAGE:
            raise OptionError(f"a page has 1 to {MAX_PAGE} rows, not {limit}")
        return read_page(self._database.read, where, limit, after)

    def count(self, where: JobFilter) -> Mapping[State, int]:
        """By state."""
        names, values = conditions(where)
        found = self._database.read(Statement("count_jobs", values, where=names))
        return {rows.STATES[row[0]]: row[1] for row in found}

    def change(
        self, where: JobFilter, change_: Change, after: str | None = None, limit: int = 500
    ) -> Changed:
        """One chunk."""
        self.memories.forget()
        done = self._database.run(partial(change.change, where, change_, after, limit))
        if done.changed and change_.move is not Move.REPRIORITISE:  # a cancel frees who waited
            self._wakes.tell(ANY_QUEUE)
        return done

    def purge(
        self, where: JobFilter, before: datetime, limit: int = 500, after: str | None = None
    ) -> Purged:
        """One chunk."""
        return self._database.run(partial(purge.purge, where, before, limit, after))

    def history(self, job_id: str) -> Sequence[Attempt]:
        """Oldest first."""
        number = rows.row_id(job_id) or 0
        found = self._database.read(Statement("job_history", {"id": number}))
        return [rows.attempt(row) for row in found]

    def logs(self, job_id: str, limit: int = 500, after: str | None = None) -> Sequence[LogLine]:
        """Oldest first."""
        values = {"id": rows.row_id(job_id) or 0, "limit": limit, "after": rows.line_id(after)}
        found = self._database.read(Statement("job_logs", values))
        return [rows.log_line(row) for row in found]


def settle_and_claim(
    settlements: Sequence[Settlement],
    reports: Sequence[Report],
    request: ClaimRequest | None,
    memory: Memory | None,
    database: Database,
) -> Plan[tuple[Settled, Claim]]:
    """The plan of an exchange. Renewals, reports and endings come before any recovery."""
    if reports:
        yield from settle.report(reports)
    ended = Settled()
    if settlements:
        ended = yield from settle.settle_now(settlements, PATIENCE_SECONDS)
    if request is None or memory is None:
        return ended, Claim()
    memory.revive(ended.freed)
    memory.parking.ended(ended.ids)
    return ended, (yield from claim.claim(request, memory, database.elapsed))
