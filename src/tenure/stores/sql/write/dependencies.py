"""New jobs that wait for others: which are held, and whose end has to release them.

The rows that they wait for are locked until the commit, so that none of them ends unseen.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tenure.core.errors import OptionError
from tenure.core.job import NewJob, State
from tenure.core.rules.order import Chained, Hold, went_well
from tenure.stores.sql import rows
from tenure.stores.sql.ids import row_id
from tenure.stores.sql.statement import Batch, Plan, Statement
from tenure.stores.sql.write.release_held import Doomed

AFTER_COLUMNS = ("waits_for", "id", "rule")
Awaited = Mapping[int, State]
Created = Iterable[tuple[int, NewJob]]
Ties = dict[int, tuple[Chained, Hold]]


def lock_awaited(jobs: Iterable[NewJob]) -> Plan[Awaited]:
    """Before anything is written: lock the jobs that new ones wait for, and read their states."""
    named = {one: row_id(one) for job in jobs for one in job.after}
    if not named:
        return {}
    wanted = sorted(number for number in set(named.values()) if number is not None)
    found = yield Statement("lock_awaited", {"ids": wanted})
    states = {number: rows.STATES[state] for number, state in found}
    for public, number in named.items():
        if number not in states:
            raise OptionError(
                f"after names job {public}, which is not there: it was never added, or has been "
                "removed since it ended"
            )
    return states


def ties(created: Created, awaited: Awaited) -> Ties:
    """Which jobs are held, and which ones hold them. A job that has ended holds nobody."""
    found: Ties = {}
    for number, job in created:
        for one in _unfinished(job, awaited):
            found[number] = (Chained(0), Hold.AFTER)
            found[one] = (Chained.AWAITED, Hold(0))
    return found


def write_dependencies(created: Created, awaited: Awaited) -> Plan[None]:
    """Record who waits for whom, and what a failure means."""
    pairs = [
        (one, number, int(job.runs_anyway))
        for number, job in created
        for one in _unfinished(job, awaited)
    ]
    if pairs:
        yield Statement("add_after", batch=Batch(AFTER_COLUMNS, sorted(pairs)))


def doomed(created: Created, awaited: Awaited) -> Doomed:
    """New jobs that wait for one that has failed already."""
    found: Doomed = {}
    for number, job in created:
        for one in map(int, () if job.runs_anyway else job.after):
            if awaited[one].final and not went_well(awaited[one]):
                found.setdefault(number, (one, awaited[one]))
    return found


def _unfinished(job: NewJob, awaited: Awaited) -> list[int]:
    return [number for number in map(int, job.after) if not awaited[number].final]
