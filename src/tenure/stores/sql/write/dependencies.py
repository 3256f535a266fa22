"""New jobs that wait for others: who is held, and whose end has to see to that.

The rows that they wait for are locked until the commit, so that none of them ends unseen.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tenure.core.errors import OptionError
from tenure.core.job import NewJob, State
from tenure.core.rules.order import Chained, Hold, went_well
from tenure.stores.sql import rows
from tenure.stores.sql.statement import Batch, Plan, Statement
from tenure.stores.sql.write.release_held import Doomed

AFTER_COLUMNS = ("waits_for", "id", "rule")
Awaited = Mapping[int, State]
Created = Iterable[tuple[int, NewJob]]
Ties = dict[int, tuple[Chained, Hold]]


def look(jobs: Iterable[NewJob]) -> Plan[Awaited]:
    """Before anything is written: those that the jobs are to wait for, locked, and their states."""
    named = {one for job in jobs for one in job.after}
    wanted = sorted(map(_number, named))
    if not wanted:
        return {}
    found = yield Statement("lock_awaited", {"ids": wanted})
    states = {row[0]: rows.STATES[row[1]] for row in found}
    for number in wanted:
        if number not in states:
            raise _missing(str(number))
    return states


def _number(job_id: str) -> int:
    """The number of a row; an id that no row can have is not there."""
    if (number := rows.row_id(job_id)) is None:
        raise _missing(job_id)
    return number


def _missing(job_id: str) -> OptionError:
    return OptionError(
        f"after names job {job_id}, which is not there: it was never added, or has been removed "
        "since it ended"
    )


def ties(created: Created, awaited: Awaited) -> Ties:
    """Who is held, and by whom. What has ended holds nobody."""
    found: Ties = {}
    for number, job in created:
        for one in _open(job, awaited):
            found[number] = (Chained(0), Hold.AFTER)
            found[one] = (Chained.AWAITED, Hold(0))
    return found


def note(created: Created, awaited: Awaited) -> Plan[None]:
    """Write down who waits for whom, and what a failure means."""
    pairs = [
        (one, number, int(job.runs_anyway))
        for number, job in created
        for one in _open(job, awaited)
    ]
    if pairs:
        yield Statement("add_after", batch=Batch(AFTER_COLUMNS, sorted(pairs)))


def doomed(created: Created, awaited: Awaited) -> Doomed:
    """New jobs that wait for what has failed already."""
    found: Doomed = {}
    for number, job in created:
        for one in map(int, () if job.runs_anyway else job.after):
            if awaited[one].final and not went_well(awaited[one]):
                found.setdefault(number, (one, awaited[one]))
    return found


def _open(job: NewJob, awaited: Awaited) -> list[int]:
    return [number for number in map(int, job.after) if not awaited[number].final]
