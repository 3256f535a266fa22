"""Jobs by state at a bounded cost: exact while that is cheap, else as good as indexes allow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from tenure.core.filter import JobFilter
from tenure.core.job import DEAD_LETTERS, OPEN_STATES, State
from tenure.stores.contract.reading import Count, Counts, Precision
from tenure.stores.sql.read.conditions import conditions
from tenure.stores.sql.read.walk import FEW, SLOW, Walk, base_of, open_only
from tenure.stores.sql.rows import LAST_ID, STATES
from tenure.stores.sql.statement import Rows, Statement

# A table of so many rows is simply counted.
SMALL = 20_000
COUNTED_AT_MOST = 10_000
OTHERS = tuple(state for state in State if state.final and state not in DEAD_LETTERS)
Read = Callable[[Statement], Rows]


def count_states(read: Read, where: JobFilter) -> Counts:
    """How many jobs match, by state."""
    names, values = conditions(where)
    if FEW & set(names):
        return _exact(_states(read(Statement("count_jobs", values, where=names))))
    if open_only(where):
        return _open(read, where)
    if names == ("letters",):
        return Counts(states=_letters(read))
    if not names:
        return _everything(read)
    walk = Walk(read, base_of(names), values, slow=bool(SLOW & set(names)))
    found: Counter[State] = Counter()
    while walk.on():
        asked = {**values, **walk.bounds}
        found.update(_states(read(Statement("count_walked", asked, where=(*names, "edge")))))
    sure = Precision.EXACT if walk.over else Precision.AT_LEAST
    states = {state: Count(jobs, sure) for state, jobs in found.items()}
    return Counts(states=states, searched=walk.walked, complete=walk.over)


def _everything(read: Read) -> Counts:
    """A large table is not counted: what is open, failed or dead has an index, the others are what
    is left of the table's size, in the proportions in which jobs have ended lately.
    """
    [(_, few)] = read(Statement("page_edge", {"after": LAST_ID, "walked": SMALL}))
    if few < SMALL:
        return _exact(_states(read(Statement("count_jobs"))))
    bound = {"limit": COUNTED_AT_MOST}
    known = _bounded(read(Statement("count_open", bound)), OPEN_STATES) | _letters(read)
    [(rows,)] = read(Statement("estimated_jobs"))
    left = max(0, int(rows) - sum(count.jobs for count in known.values()))
    ended = _states(read(Statement("lately_ended")))
    total = sum(ended[state] for state in OTHERS)
    for state in OTHERS:
        share = ended[state] / total if total else float(state is State.SUCCEEDED)
        known[state] = Count(round(left * share), Precision.APPROXIMATE)
    return Counts(states=known)


def _open(read: Read, where: JobFilter) -> Counts:
    names, values = conditions(where)
    rest = tuple(name for name in names if name != "states")
    values["limit"] = COUNTED_AT_MOST
    found = _bounded(read(Statement("count_open", values, where=rest)), OPEN_STATES)
    return Counts(states={state: found[state] for state in where.states or OPEN_STATES})


def count_open(read: Read, where: JobFilter) -> dict[State, int]:
    """All jobs that have not ended and match, from their indexes."""
    names, values = conditions(where)
    rest = tuple(name for name in names if name != "states")
    found = _states(read(Statement("count_open", {**values, "limit": LAST_ID}, where=rest)))
    return {state: found[state] for state in where.states or OPEN_STATES if found[state]}


def _letters(read: Read) -> dict[State, Count]:
    found = read(Statement("count_letters", {"limit": COUNTED_AT_MOST}))
    return _bounded(found, DEAD_LETTERS)


def _bounded(rows: Rows, states: tuple[State, ...]) -> dict[State, Count]:
    """Counts that stopped at the bound say so."""
    found = _states(rows)
    most = sum(found.values()) >= COUNTED_AT_MOST
    sure = Precision.AT_LEAST if most else Precision.EXACT
    return {state: Count(found[state], sure) for state in states}


def _exact(found: Counter[State]) -> Counts:
    return Counts(states={state: Count(jobs) for state, jobs in found.items()})


def _states(rows: Rows) -> Counter[State]:
    return Counter({STATES[code]: int(jobs) for code, jobs in rows})
