"""Adding jobs, all or none. Plain jobs take one statement; keys and ties join where named."""

from __future__ import annotations

from collections.abc import Sequence

from tenure.core.job import NewJob
from tenure.stores.contract import Added
from tenure.stores.sql import rows
from tenure.stores.sql.endings.endings import Endings
from tenure.stores.sql.statement import Batch, Plan, Statement
from tenure.stores.sql.write import held_jobs
from tenure.stores.sql.write.unique_keys import add_keyed, replace_waiting


def add(jobs: Sequence[NewJob], endings: Endings) -> Plan[list[Added]]:
    """The answers, in the order of the jobs; ids grow in that order too."""
    if rows.are_plain(jobs):
        added = yield from add_plain(jobs)
        if endings.kinds:
            yield from endings.mark_new(zip(map(number_of, added), jobs, strict=True))
        return added
    # Locks come first: ids must grow in the order of commits under an ordering key.
    before = yield from held_jobs.prepare(jobs)
    call = yield from add_keyed(jobs)
    yield from held_jobs.tie(call.created, before, endings)
    yield from replace_waiting(call)
    return call.in_order


def number_of(added: Added) -> int:
    """The row of a new job."""
    return int(added.id)


def add_plain(jobs: Sequence[NewJob]) -> Plan[list[Added]]:
    """Jobs without a key, each with its payload in its row: one statement adds them."""
    found = yield _plain_statement(jobs)
    return [Added(str(number)) for (number,) in sorted(found)]


def _plain_statement(jobs: Sequence[NewJob]) -> Statement:
    """One row, rows that share all but their payload, or rows of any sort."""
    if len(jobs) > 1 and not rows.are_alike(jobs):
        return Statement("add_jobs", batch=Batch(rows.JOB_COLUMNS, list(map(rows.new_job, jobs))))
    values = dict(zip(rows.JOB_COLUMNS, rows.new_job(jobs[0]), strict=True))
    if len(jobs) == 1:
        return Statement("add_job", values)
    payloads = Batch(("payload",), [(job.payload,) for job in jobs])
    return Statement("add_like_jobs", values, payloads)
