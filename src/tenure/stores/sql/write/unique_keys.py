"""Adding jobs with unique keys: one job per key, whatever the concurrency.

The plan never relies on a savepoint or an error. In a foreign transaction a refused call removes
its own rows and leaves everything else as it was.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tenure.core.errors import KeyConflict, StoreError
from tenure.core.job import KeyMode, NewJob, State, UniqueKey
from tenure.core.timing.clock import seconds_to_micros, to_micros
from tenure.stores.contract import Added
from tenure.stores.sql import rows
from tenure.stores.sql.statement import Batch, Plan, Row, Statement, chunks

KEY_COLUMNS = ("tenant", "kind", "unique_key")
KEYED_COLUMNS = (*rows.JOB_COLUMNS, "unique_key", "payload_hash")
# Each round loses only to a holder that has ended since the round before.
ROUNDS = 10
KeyName = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Holder:
    """The job that has a key now."""

    id: str
    payload_hash: str
    state: State


class KeyedCall:
    """One call in progress: what is answered so far, and which waiting jobs to change at its end.

    `at` is always an index into `jobs`.
    """

    def __init__(self, jobs: Sequence[NewJob]) -> None:
        self.jobs = jobs
        self.answers: dict[int, Added] = {}
        self.changes: dict[str, int] = {}

    @property
    def created(self) -> list[tuple[int, NewJob]]:
        """The jobs that are new, by row number."""
        return [(int(new.id), self.jobs[at]) for at, new in self.answers.items() if new.created]

    @property
    def in_order(self) -> list[Added]:
        """The answers, in the order of the jobs."""
        return [self.answers[at] for at in range(len(self.jobs))]

    def change(self, holder: Holder, at: int) -> None:
        """The job that has the key takes what this one says; a later one of the call wins."""
        self.changes[holder.id] = at
        self.answers[at] = Added(holder.id, created=False)

    def hash_of(self, holder: Holder) -> str:
        """The payload that the holder has, or will have when this call is done."""
        at = self.changes.get(holder.id)
        return holder.payload_hash if at is None else payload_hash(self.jobs[at].payload)


def add_keyed(jobs: Sequence[NewJob]) -> Plan[KeyedCall]:
    """Insert what may be inserted. On a KeyConflict nothing of the call stays."""
    call = KeyedCall(jobs)
    try:
        yield from _add_in_rounds(call)
    except KeyConflict:
        yield from _take_back(call)
        raise
    return call


def replace_waiting(call: KeyedCall) -> Plan[None]:
    """Change the waiting jobs whose keys this call gave in mode `replace` or `debounce`."""
    for holder, at in call.changes.items():
        yield from _replace(int(holder), call.jobs[at])


def _add_in_rounds(call: KeyedCall) -> Plan[None]:
    """Repeat until every key has been taken or answered for: holders may end in between."""
    waiting = list(range(len(call.jobs)))
    for _ in range(ROUNDS):
        yield from _round(call, waiting)
        waiting = [at for at in waiting if at not in call.answers]
        if not waiting:
            return
    key = _key(call.jobs[waiting[0]])
    raise StoreError(
        f"the key {key.value!r} is being changed by others at the same time; try again"
    )


def _round(call: KeyedCall, waiting: list[int]) -> Plan[None]:
    """Take free windows, insert what may be inserted, then look at the holders of other keys."""
    jobs = call.jobs
    first = {_name(jobs[at]): at for at in reversed(waiting) if jobs[at].key is not None}
    windows = {name: at for name, at in first.items() if _timed(jobs[at])}
    live = {name: at for name, at in first.items() if not _timed(jobs[at])}
    won = yield from _take_windows(jobs, windows)
    plain = sorted([at for at in waiting if jobs[at].key is None] + list(won.values()))
    yield from _insert(call, plain, live)
    if won:
        bound = [(*name, int(call.answers[at].id)) for name, at in won.items()]
        yield Statement("bind_windows", batch=Batch((*KEY_COLUMNS, "id"), bound))
    yield from _meet_holders("find_windows", call, windows)
    yield from _meet_holders("find_keyed_jobs", call, live)


def _take_windows(jobs: Sequence[NewJob], windows: dict[KeyName, int]) -> Plan[dict[KeyName, int]]:
    if not windows:
        return {}
    wanted = [(*name, *_window(jobs[at])) for name, at in windows.items()]
    batch = Batch((*KEY_COLUMNS, "payload_hash", "window"), wanted)
    found = yield Statement("take_windows", batch=batch)
    return {name: windows[name] for name in ((tenant, kind, key) for tenant, kind, key in found)}


def _insert(call: KeyedCall, plain: list[int], live: dict[KeyName, int]) -> Plan[None]:
    """The unique index decides which keys are taken: only created rows come back."""
    places = sorted([*plain, *live.values()])
    if not places:
        return
    batch = Batch(KEYED_COLUMNS, [_keyed_row(call.jobs[at]) for at in places])
    unkeyed, created = iter(plain), []
    for number, tenant, kind, key in sorted((yield Statement("add_keyed_jobs", batch=batch))):
        at = next(unkeyed) if key is None else live[tenant, kind, key]
        call.answers[at] = Added(str(number))
        created.append((number, call.jobs[at]))
    yield from _store_large_payloads(created)


def _store_large_payloads(created: list[tuple[int, NewJob]]) -> Plan[None]:
    """A large payload has its own row, which no claim or settle writes again."""
    large = [(number, job.payload) for number, job in created if rows.is_large(job.payload)]
    for part in chunks(large, key=lambda pair: len(pair[1])):
        yield Statement("add_payloads", batch=Batch(("id", "payload"), part))


def _meet_holders(query: str, call: KeyedCall, wanted: dict[KeyName, int]) -> Plan[None]:
    unanswered = {name: at for name, at in wanted.items() if at not in call.answers}
    if not unanswered:
        return
    found = yield Statement(query, batch=Batch(KEY_COLUMNS, list(unanswered)))
    for number, tenant, kind, key, stored_hash, state in found:
        holder = Holder(str(number), stored_hash, rows.STATES[state])
        yield from _meet(call, unanswered[tenant, kind, key], holder)


def _meet(call: KeyedCall, at: int, holder: Holder) -> Plan[None]:
    """The key is taken: the same job again, a change to the waiting one, or a conflict."""
    job, key = call.jobs[at], _key(call.jobs[at])
    if key.mode is not KeyMode.KEEP and holder.state is State.QUEUED:
        if (yield Statement("lock_waiting", {"id": int(holder.id)})):
            call.change(holder, at)
        return  # otherwise it has just started: the next round looks again
    if call.hash_of(holder) != payload_hash(job.payload):
        raise KeyConflict(job.kind, key.value, holder.id)
    call.answers[at] = Added(holder.id, created=False)


def _replace(holder: int, job: NewJob) -> Plan[None]:
    """Give the waiting job the new payload, priority and time. It is locked, so nobody can start
    it meanwhile.
    """
    yield Statement("replace_job", _replacement(job, holder))
    yield Statement("purge_payloads", {"ids": [holder]})
    yield from _store_large_payloads([(holder, job)])
    if _timed(job):
        new_hash = payload_hash(job.payload)
        batch = Batch((*KEY_COLUMNS, "payload_hash"), [(*_name(job), new_hash)])
        yield Statement("rehash_windows", batch=batch)


def _replacement(job: NewJob, holder: int) -> dict[str, Any]:
    return {
        "id": holder,
        "payload": None if rows.is_large(job.payload) else job.payload,
        "payload_hash": None if _timed(job) else payload_hash(job.payload),
        "priority": job.priority,
        "debounce": int(_key(job).mode is KeyMode.DEBOUNCE),
        "run_at": None if job.run_at is None else to_micros(job.run_at),
        "delay": seconds_to_micros(job.delay_seconds),
    }


def _take_back(call: KeyedCall) -> Plan[None]:
    """One of the keys is refused: remove the rows that this call has written."""
    mine = {at: added for at, added in call.answers.items() if added.created}
    if not mine:
        return
    windows = [_name(call.jobs[at]) for at in mine if _timed(call.jobs[at])]
    if windows:
        yield Statement("drop_windows", batch=Batch(KEY_COLUMNS, windows))
    ids = [int(added.id) for added in mine.values()]
    yield Statement("purge_payloads", {"ids": ids})
    yield Statement("drop_added", {"ids": ids})


def payload_hash(payload: str) -> str:
    """Tells one payload from another under the same key."""
    return hashlib.blake2b(payload.encode(), digest_size=16).hexdigest()


def _keyed_row(job: NewJob) -> Row:
    """The values of KEYED_COLUMNS. A key with a window is stored in a table of its own."""
    if job.key is None or job.key.window_seconds is not None:
        return (*rows.new_job(job), None, None)
    return (*rows.new_job(job), job.key.value, payload_hash(job.payload))


def _timed(job: NewJob) -> bool:
    return job.key is not None and job.key.window_seconds is not None


def _key(job: NewJob) -> UniqueKey:
    if job.key is None:
        raise AssertionError("only jobs with a key come here")
    return job.key


def _name(job: NewJob) -> KeyName:
    return job.tenant, job.kind, _key(job).value


def _window(job: NewJob) -> tuple[str, int]:
    return payload_hash(job.payload), seconds_to_micros(_key(job).window_seconds or 0.0)
