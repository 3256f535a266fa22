"""Short actions that the tests of the suite are written in."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier
from typing import Any, TypeVar

from tenure.core.failure import Failure
from tenure.core.filter import JobFilter
from tenure.core.job import Job, KeyMode, NewJob, State, UniqueKey
from tenure.core.lease import ClaimedJob
from tenure.core.settlement import Settlement
from tenure.stores.contract import Added, Change, Changed, Claim, ClaimRequest, Move, Report, Store
from tenure.testing.tempo import Tempo

T = TypeVar("T")
HOUR = 3600.0
OOPS = Failure(type="ValueError", message="no such invoice", code="oops")
BROKEN_ENDINGS = {State.FAILED: "failed", State.DEAD: "error"}


def add(store: Store, *jobs: NewJob, tx: Any = None) -> list[Added]:
    """These jobs in one call."""
    return store.jobs.add(jobs, tx=tx)


def add_job(store: Store, kind: str = "work", **options: Any) -> str:
    """One job; the answer is its id."""
    return add(store, NewJob(kind=kind, **options))[0].id


def add_jobs(store: Store, count: int, **options: Any) -> list[str]:
    """Some jobs alike, in one call."""
    wanted = [NewJob(**{"kind": "work", **options}) for _ in range(count)]
    return [added.id for added in add(store, *wanted)]


def keyed(value: str = "k", payload: str = "{}", **options: Any) -> NewJob:
    """A job under a unique key; `mode` and `window` belong to the key."""
    key = UniqueKey(
        value=value,
        mode=options.pop("mode", KeyMode.KEEP),
        window_seconds=options.pop("window", None),
    )
    return NewJob(**{"kind": "work", "payload": payload, "key": key, **options})


def claim(
    store: Store,
    *,
    owner: str = "worker",
    kinds: Iterable[str] = ("work",),
    slots: int | Mapping[str, int] = 100,
    **options: Any,
) -> Claim:
    """One claim that has looked everywhere; plain slots are those of the queue `default`."""
    free = {"default": slots} if isinstance(slots, int) else slots
    asked: dict[str, Any] = {"lease_seconds": HOUR, **options}
    request = ClaimRequest(owner=owner, kinds=list(kinds), slots=free, **asked)
    found = store.jobs.claim(request)
    if found.jobs:
        return found
    more = store.jobs.claim(replace(request, thorough=True))
    return replace(more, ended=[*found.ended, *more.ended])


def claim_alone(store: Store, tempo: Tempo, kind: str = "work") -> ClaimedJob:
    """A suspect, in a worker that has nothing beside it."""
    job = claim_one(store, owner="silent", seconds=tempo.lease, kinds=(kind,))
    assert store.jobs.report([Report(lease=job.lease, begun_ago=0.0, alone=True)]) == frozenset()
    return job


def kill_alone(store: Store, tempo: Tempo) -> str:
    """The next job kills its worker beside others, then one that it has for itself; its id."""
    first = claim_one(store, owner="silent", seconds=tempo.lease)
    tempo.passes(31)
    again = claim_alone(store, tempo)
    tempo.passes(31)
    assert again.id == first.id
    return first.id


def claim_all(store: Store, **options: Any) -> list[ClaimedJob]:
    """What one claim brings."""
    return list(claim(store, **options).jobs)


def claim_ids(store: Store, **options: Any) -> list[str]:
    """The ids that one claim brings, best first."""
    return [job.id for job in claim_all(store, **options)]


def claim_until(store: Store, condition: Callable[[], bool]) -> None:
    """Claim again and again: each ends a bounded number of jobs, and a dear look has to wait."""
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline, "not even after many claims"
        claim(store)


def claim_one(
    store: Store, owner: str = "worker", seconds: float = HOUR, **options: Any
) -> ClaimedJob:
    """Exactly one job, which must be there."""
    [job] = claim_all(store, owner=owner, slots=1, lease_seconds=seconds, **options)
    return job


def start_job(store: Store, *, seconds: float = HOUR, **options: Any) -> ClaimedJob:
    """A job added and claimed."""
    add_job(store, **options)
    return claim_one(store, seconds=seconds)


def settle(store: Store, job: ClaimedJob, state: State, **options: Any) -> bool:
    """End the run like this; whether it was applied."""
    item = Settlement(lease=job.lease, state=state, **options)
    return job.id in store.jobs.settle([item])


def settle_done(store: Store, *jobs: ClaimedJob) -> list[str]:
    """End runs well; the ids that were applied, in this order."""
    items = [Settlement(lease=job.lease, state=State.SUCCEEDED) for job in jobs]
    applied = store.jobs.settle(items)
    return [job.id for job in jobs if job.id in applied]


def finished_job(store: Store, state: State = State.SUCCEEDED, **options: Any) -> str:
    """A job that ran once and ended in this state, with a history line where that is usual."""
    job = start_job(store, **options)
    if state in BROKEN_ENDINGS:
        assert settle(store, job, state, entry=BROKEN_ENDINGS[state], reason="x", failure=OOPS)
    else:
        assert settle(store, job, state)
    return job.id


def job_of(store: Store, job_id: str) -> Job:
    """The job as it is stored, which must be there."""
    job = store.jobs.get(job_id)
    assert job is not None, f"job {job_id} is gone"
    return job


def state_of(store: Store, job_id: str) -> State:
    """Where the job is."""
    return job_of(store, job_id).state


def ids_of(store: Store, **conditions: Any) -> list[str]:
    """The jobs that a filter finds, oldest first."""
    rows = store.jobs.page(JobFilter(**conditions), limit=500).rows
    return [job.id for job in reversed(rows)]


def count_of(store: Store, **conditions: Any) -> int:
    """How many jobs a filter finds."""
    return sum(store.jobs.count(JobFilter(**conditions)).values())


def entries_of(store: Store, job_id: str) -> list[str]:
    """The words of a job's history."""
    return [line.entry for line in store.jobs.history(job_id)]


def move(store: Store, job_id: str, what: Move, **options: Any) -> Changed:
    """An operator's move on one job."""
    change = Change(move=what, actor="ada", **options)
    return store.jobs.change(JobFilter(ids=(job_id,)), change)


def cancel(store: Store, job_id: str) -> Changed:
    """Call one job off."""
    return move(store, job_id, Move.CANCEL)


def retry(store: Store, job_id: str) -> Changed:
    """Start one job anew."""
    return move(store, job_id, Move.RETRY)


def at_once(threads: int, action: Callable[[int], T]) -> list[T | Exception]:
    """The action in so many threads that start together; what each answered or raised."""
    barrier = Barrier(threads)

    def run(number: int) -> T | Exception:
        barrier.wait()
        try:
            return action(number)
        except Exception as error:
            return error

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(run, range(threads)))
