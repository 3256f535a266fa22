"""What a job has to do with others, and the last failures of the jobs of a page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from tenure.core.job import Job
from tenure.core.rules.error_groups import MESSAGE_LENGTH
from tenure.core.timing.clock import from_micros
from tenure.stores.contract.reading import Relatives, ShortError, Step
from tenure.stores.sql.ids import row_id
from tenure.stores.sql.read.job_rows import job as job_of
from tenure.stores.sql.statement import Rows, Statement

PARENT = "job:"
Read = Callable[[Statement], Rows]


def last_errors(read: Read, ids: Sequence[str]) -> Mapping[str, ShortError]:
    """One statement, whatever the number of jobs."""
    numbers = [number for one in ids if (number := row_id(one)) is not None]
    if not numbers:
        return {}
    found = read(Statement("last_errors", {"ids": numbers, "length": MESSAGE_LENGTH}))
    return {
        str(number): ShortError(name or "", message or "", code)
        for number, name, message, code in found
    }


def relatives(read: Read, job: Job, limit: int) -> Relatives:
    """Each list is what an index holds; the jobs themselves are read at once."""
    number = row_id(job.id) or 0
    asked = {"id": number, "limit": limit}
    waits_for = [one for (one,) in read(Statement("awaited_by", asked))]
    dependents = [one for (one,) in read(Statement("dependents_of", asked))]
    parent, batch = _parent_of(job), row_id(job.batch_id or "")
    known = _jobs(read, {*waits_for, *dependents, *filter(None, (parent, batch))})
    children = read(Statement("children_of", {"parent": f"{PARENT}{number}", "limit": limit}))
    steps = read(Statement("list_steps", asked))
    return Relatives(
        parent=known.get(parent or 0),
        batch=known.get(batch or 0),
        children=[job_of(row) for row in children],
        waits_for=[known[one] for one in waits_for if one in known],
        dependents=[known[one] for one in dependents if one in known],
        steps=[Step(name, from_micros(at), result) for name, at, result in steps],
    )


def _parent_of(job: Job) -> int | None:
    by = job.enqueued_by or ""
    return row_id(by.removeprefix(PARENT)) if by.startswith(PARENT) else None


def _jobs(read: Read, numbers: set[int]) -> dict[int, Job]:
    if not numbers:
        return {}
    rows = read(Statement("light_jobs", {"ids": sorted(numbers)}))
    found = [job_of(row) for row in rows]
    return {int(one.id): one for one in found}
