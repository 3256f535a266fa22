"""Adding jobs: all or none, one job per unique key whatever the concurrency.

The plan never relies on a savepoint or an error: in the caller's transaction a refused call takes
back its own rows and leaves everything else as it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tenure.core.errors import KeyConflict, StoreError
from tenure.core.job import KeyMode, NewJob, State, UniqueKey
from tenure.core.timing.clock import seconds_to_micros, to_micros
from tenure.stores.contract import Added
from tenure.stores.sql import rows
from tenure.stores.sql.statement import Batch, Plan, Row, Statement, chunks
from tenure.stores.sql.write import held_jobs as chain

KEY_COLUMNS = ("tenant", "kind", "unique_key")
ROUNDS = 10
KeyName = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Holder:
    """The job that has a key now."""

    id: str
    payload_hash: str
    state: State

    @classmethod
    def of(cls, row: Row) -> Holder:
        """From a row of `find_keyed_jobs` or `find_windows`."""
        return cls(str(row[0]), row[4], rows.STATES[row[5]])


class Adding:
    """One call under way: what is answered, and which waiting jobs are to be changed at its end."""

    def __init__(self, jobs: Sequence[NewJob]) -> None:
        self.jobs = jobs
        self.answers: dict[int, Added] = {}
        self.changes: dict[str, int] = {}

    def change(self, holder: Holder, place: int) -> None:
        """The job that has the key takes what this place says; a later place wins."""
        self.changes[holder.id] = place
        self.answers[place] = Added(holder.id, created=False)

    def hash_of(self, holder: Holder) -> str:
        """The payload that the holder has, or will have when this call is done."""
        place = self.changes.get(holder.id)
        return holder.payload_hash if place is None else rows.payload_hash(self.jobs[place].payload)


def add(jobs: Sequence[NewJob]) -> Plan[list[Added]]:
    """The answers, in the order of the jobs; ids grow in that order too."""
    if rows.are_plain(jobs):
        return (yield from add_plain(jobs))
    adding = Adding(jobs)
    before = yield from chain.prepare(jobs)
    try:
        yield from _add_keyed(adding)
    except KeyConflict:
        yield from _take_back(adding)
        raise
    created = [(int(new.id), jobs[at]) for at, new in adding.answers.items() if new.created]
    yield from chain.tie(created, before)
    for holder, place in adding.changes.items():
        yield from _replace(int(holder), jobs[place])
    return [adding.answers[place] for place in range(len(jobs))]


def add_plain(jobs: Sequence[NewJob]) -> Plan[list[Added]]:
    """Jobs without a key, each with its payload in its row: one statement adds them."""
    found = yield _plain_statement(jobs)
    return [Added(str(row[0])) for row in sorted(found)]


def _plain_statement(jobs: Sequence[NewJob]) -> Statement:
    """One row, rows that share all but their payload, or rows of any sort."""
    if len(jobs) > 1 and not rows.are_alike(jobs):
        return Statement("add_jobs", batch=Batch(rows.JOB_COLUMNS, list(map(rows.new_job, jobs))))
    values = dict(zip(rows.JOB_COLUMNS, rows.new_job(jobs[0]), strict=True))
    if len(jobs) == 1:
        return Statement("add_job", values)
    payloads = Batch(("payload",), [(job.payload,) for job in jobs])
    return Statement("add_like_jobs", values, payloads)


def _add_keyed(adding: Adding) -> Plan[None]:
    """Round after round until every key has either been taken or been answered for."""
    waiting = list(range(len(adding.jobs)))
    for _ in range(ROUNDS):
        yield from _round(adding, waiting)
        waiting = [place for place in waiting if place not in adding.answers]
        if not waiting:
            return
    key = _key(adding.jobs[waiting[0]])
    raise StoreError(f"the key {key.value!r} changes hands too fast; try again")


def _round(adding: Adding, waiting: list[int]) -> Plan[None]:
    """Take free windows, insert what may be inserted, then meet whoever holds the other keys."""
    jobs = adding.jobs
    first = {_name(jobs[at]): at for at in reversed(waiting) if jobs[at].key is not None}
    windows = {name: at for name, at in first.items() if _timed(jobs[at])}
    live = {name: at for name, at in first.items() if not _timed(jobs[at])}
    won = yield from _take_windows(jobs, windows)
    plain = sorted([at for at in waiting if jobs[at].key is None] + list(won.values()))
    yield from _insert(adding, plain, live)
    if won:
        bound = [(*name, int(adding.answers[at].id)) for name, at in won.items()]
        yield Statement("bind_windows", batch=Batch((*KEY_COLUMNS, "id"), bound))
    yield from _meet_holders("find_windows", adding, windows)
    yield from _meet_holders("find_keyed_jobs", adding, live)


def _take_windows(jobs: Sequence[NewJob], windows: dict[KeyName, int]) -> Plan[dict[KeyName, int]]:
    if not windows:
        return {}
    wanted = [(*name, *_window(jobs[at])) for name, at in windows.items()]
    batch = Batch((*KEY_COLUMNS, "payload_hash", "window"), wanted)
    found = yield Statement("take_windows", batch=batch)
    return {(row[0], row[1], row[2]): windows[row[0], row[1], row[2]] for row in found}


def _insert(adding: Adding, plain: list[int], live: dict[KeyName, int]) -> Plan[None]:
    """The unique index decides which keys are taken: what comes back was created."""
    places = sorted([*plain, *live.values()])
    if not places:
        return
    batch = Batch(rows.KEYED_COLUMNS, [rows.keyed_job(adding.jobs[at]) for at in places])
    unkeyed, created = iter(plain), []
    for row in sorted((yield Statement("add_keyed_jobs", batch=batch))):
        at = next(unkeyed) if row[3] is None else live[row[1], row[2], row[3]]
        adding.answers[at] = Added(str(row[0]))
        created.append((row[0], adding.jobs[at]))
    yield from _put_apart(created)


def _put_apart(created: list[tuple[int, NewJob]]) -> Plan[None]:
    """A large payload has its own row, which no claim or settle writes again."""
    large = [(number, job.payload) for number, job in created if rows.is_large(job.payload)]
    for part in chunks(large, key=lambda pair: len(pair[1])):
        yield Statement("add_payloads", batch=Batch(("id", "payload"), part))


def _meet_holders(query: str, adding: Adding, wanted: dict[KeyName, int]) -> Plan[None]:
    open_ones = {name: at for name, at in wanted.items() if at not in adding.answers}
    if not open_ones:
        return
    for row in (yield Statement(query, batch=Batch(KEY_COLUMNS, list(open_ones)))):
        yield from _meet(adding, open_ones[row[1], row[2], row[3]], Holder.of(row))


def _meet(adding: Adding, at: int, holder: Holder) -> Plan[None]:
    """The key is taken: the same job again, a change to the waiting one, or a conflict."""
    job, key = adding.jobs[at], _key(adding.jobs[at])
    if key.mode is not KeyMode.KEEP and holder.state is State.QUEUED:
        if (yield Statement("lock_waiting", {"id": int(holder.id)})):
            adding.change(holder, at)
        return  # it has just started: the next round looks again
    if adding.hash_of(holder) != rows.payload_hash(job.payload):
        raise KeyConflict(job.kind, key.value, holder.id)
    adding.answers[at] = Added(holder.id, created=False)


def _replace(holder: int, job: NewJob) -> Plan[None]:
    """The waiting job takes the new payload, priority and time; nobody can start it meanwhile."""
    yield Statement("replace_job", _replacement(job, holder))
    yield Statement("purge_payloads", {"ids": [holder]})
    yield from _put_apart([(holder, job)])
    if _timed(job):
        new_hash = rows.payload_hash(job.payload)
        batch = Batch((*KEY_COLUMNS, "payload_hash"), [(*_name(job), new_hash)])
        yield Statement("rehash_windows", batch=batch)


def _replacement(job: NewJob, holder: int) -> dict[str, Any]:
    return {
        "id": holder,
        "payload": None if rows.is_large(job.payload) else job.payload,
        "payload_hash": None if _timed(job) else rows.payload_hash(job.payload),
        "priority": job.priority,
        "debounce": int(_key(job).mode is KeyMode.DEBOUNCE),
        "run_at": None if job.run_at is None else to_micros(job.run_at),
        "delay": seconds_to_micros(job.delay_seconds),
    }


def _take_back(adding: Adding) -> Plan[None]:
    """One of the keys is refused: the rows that this call has written go again."""
    mine = {at: added for at, added in adding.answers.items() if added.created}
    if not mine:
        return
    windows = [_name(adding.jobs[at]) for at in mine if _timed(adding.jobs[at])]
    if windows:
        yield Statement("drop_windows", batch=Batch(KEY_COLUMNS, windows))
    ids = [int(added.id) for added in mine.values()]
    yield Statement("purge_payloads", {"ids": ids})
    yield Statement("drop_added", {"ids": ids})


def _timed(job: NewJob) -> bool:
    return job.key is not None and job.key.window_seconds is not None


def _key(job: NewJob) -> UniqueKey:
    if job.key is None:
        raise AssertionError("only jobs with a key come here")
    return job.key


def _name(job: NewJob) -> KeyName:
    return job.tenant, job.kind, _key(job).value


def _window(job: NewJob) -> tuple[str, int]:
    return rows.payload_hash(job.payload), seconds_to_micros(_key(job).window_seconds or 0.0)
