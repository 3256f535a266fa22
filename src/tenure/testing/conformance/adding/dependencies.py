"""Jobs that wait for others: held until all have ended, and never missed by one that ends now."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any

import pytest

from tenure.core.capability import Capability
from tenure.core.errors import OptionError
from tenure.core.filter import JobFilter
from tenure.core.job import NewJob, State
from tenure.core.lease import ClaimedJob
from tenure.stores.contract import Store
from tenure.testing.conformance.actions import (
    OOPS,
    add,
    add_job,
    add_jobs,
    at_once,
    cancel,
    claim,
    claim_all,
    claim_ids,
    claim_one,
    count_of,
    entries_of,
    finished_job,
    job_of,
    keyed,
    kill_alone,
    retry,
    settle,
    settle_done,
    state_of,
)
from tenure.testing.conformance.promise import needs, promise
from tenure.testing.tempo import Tempo

NEEDS = (Capability.DEPENDENCIES,)

BAD = (State.FAILED, State.DEAD, State.CANCELED, State.NOT_FOUND)
GOOD = (State.SUCCEEDED, State.SKIPPED)


def add_after(store: Store, *awaited: str, **options: Any) -> str:
    """A job that waits for these."""
    return add_job(store, after=awaited, **options)


def run_all(store: Store) -> list[str]:
    """Claim and settle until nothing is left; the order in which they came."""
    came: list[str] = []
    while got := claim_all(store):
        came += [job.id for job in got]
        settle_done(store, *got)
    return came


@promise(1, 15)
def test_a_job_waits_until_all_that_it_waits_for_have_ended(store: Store) -> None:
    first, second = add_jobs(store, 2)
    last = add_after(store, first, second)
    got = {job.id: job for job in claim_all(store)}

    assert set(got) == {first, second}
    assert job_of(store, last).waits_for == (first, second)
    settle_done(store, got[second])
    assert job_of(store, last).waits_for == (first,)
    assert claim_ids(store) == []
    settle_done(store, got[first])
    assert (job_of(store, last).waits_for, job_of(store, last).hold) == ((), 0)
    assert claim_ids(store) == [last]


@promise(15)
@pytest.mark.parametrize("state", GOOD)
def test_a_success_and_a_skip_let_it_run(store: Store, state: State) -> None:
    last = add_after(store, add_job(store))
    assert settle(store, claim_one(store), state)

    assert claim_ids(store) == [last]


@promise(15)
@needs(Capability.HISTORY)
@pytest.mark.parametrize("state", BAD)
def test_what_waits_for_a_failure_is_called_off_and_says_why(store: Store, state: State) -> None:
    first = add_job(store)
    last = add_after(store, first)
    assert settle(store, claim_one(store), state, entry="error", failure=OOPS)

    job = job_of(store, last)
    assert (job.state, job.reason, job.hold) == (State.CANCELED, "dependency_failed", 0)
    assert job.finished_at is not None
    [line] = store.jobs.history(last)
    assert (line.entry, line.worker) == ("canceled", f"job:{first}")
    assert line.failure is not None
    assert line.failure["message"] == f"job {first}, which it waited for, ended {state}"


@promise(15)
@pytest.mark.parametrize("state", BAD)
def test_it_runs_all_the_same_where_that_is_the_rule(store: Store, state: State) -> None:
    last = add_after(store, add_job(store), runs_anyway=True)
    assert settle(store, claim_one(store), state, entry="error")

    assert claim_ids(store) == [last]


@promise(15)
def test_a_retry_is_no_end(store: Store, tempo: Tempo) -> None:
    last = add_after(store, add_job(store))
    assert settle(
        store, claim_one(store), State.QUEUED, entry="error", delay_seconds=tempo.seconds(30)
    )

    assert claim_ids(store) == []
    tempo.passes(31)
    settle_done(store, claim_one(store))
    assert claim_ids(store) == [last]


@promise(15)
def test_those_behind_one_that_is_called_off_follow(store: Store) -> None:
    chain = [add_job(store)]
    for _ in range(30):
        chain.append(add_after(store, chain[-1]))
    stubborn = add_after(store, chain[-1], runs_anyway=True)
    assert settle(store, claim_one(store), State.FAILED, entry="failed")

    assert {state_of(store, one) for one in chain[1:]} == {State.CANCELED}
    assert claim_ids(store) == [stubborn]


@promise(15)
@pytest.mark.parametrize("state", GOOD)
def test_what_has_ended_well_holds_nobody(store: Store, state: State) -> None:
    last = add_after(store, finished_job(store, state))

    assert (job_of(store, last).hold, claim_ids(store)) == (0, [last])


@promise(15)
@needs(Capability.HISTORY)
@pytest.mark.parametrize("state", BAD)
def test_what_has_failed_already_calls_it_off_at_once(store: Store, state: State) -> None:
    bad, good = finished_job(store, state), add_job(store)
    first = add_after(store, bad, good)
    last = add_after(store, bad, good, runs_anyway=True)

    assert (state_of(store, first), job_of(store, first).reason) == (
        State.CANCELED,
        "dependency_failed",
    )
    assert entries_of(store, first) == ["canceled"]
    assert run_all(store) == [good, last]
    assert job_of(store, first).hold == 0


@promise(15)
def test_a_missing_dependency_is_named_and_nothing_is_written(store: Store) -> None:
    there = add_job(store)
    with pytest.raises(OptionError, match="job 987654, which is not there"):
        add(store, NewJob(kind="work"), NewJob(kind="work", after=(there, "987654")))

    assert count_of(store) == 1
    assert run_all(store) == [there]


@promise(6, 15)
@needs(Capability.TRANSACTIONS)
def test_it_may_wait_for_a_job_of_the_same_transaction(store: Store) -> None:
    with store.transaction() as tx:
        [first] = add(store, NewJob(kind="work"), tx=tx)
        [last] = add(store, NewJob(kind="work", after=(first.id,)), tx=tx)

    assert run_all(store) == [first.id, last.id]


@promise(6, 15)
@needs(Capability.TRANSACTIONS)
def test_what_was_rolled_back_leaves_no_trace(store: Store) -> None:
    first = add_job(store)
    with pytest.raises(ZeroDivisionError), store.transaction() as tx:
        add(store, NewJob(kind="work", after=(first,)), tx=tx)
        raise ZeroDivisionError

    assert run_all(store) == [first]


@promise(15)
@needs(Capability.SUSPECTS, Capability.EXPIRY)
def test_every_other_way_to_its_end_counts_too(store: Store, tempo: Tempo) -> None:
    crashing = add_job(store, max_attempts=1)
    assert kill_alone(store, tempo) == crashing
    canceled, expiring = add_job(store), add_job(store, expires_seconds=tempo.seconds(60))
    behind = [add_after(store, one) for one in (canceled, expiring, crashing)]

    cancel(store, canceled)
    assert state_of(store, behind[0]) is State.CANCELED
    tempo.passes(61)
    claim(store)
    assert [state_of(store, one) for one in (expiring, crashing)] == [State.CANCELED, State.DEAD]
    assert [state_of(store, one) for one in behind] == [State.CANCELED] * 3


@promise(15)
def test_a_cancel_that_a_retry_meets_is_an_end(store: Store) -> None:
    first = add_job(store)
    last = add_after(store, first)
    job = claim_one(store)
    cancel(store, first)
    assert settle(store, job, State.QUEUED, entry="error")

    assert [state_of(store, one) for one in (first, last)] == [State.CANCELED] * 2


@promise(15)
def test_an_operator_brings_back_the_dependent_itself(store: Store) -> None:
    first, other = add_jobs(store, 2)
    last = add_after(store, first, other)
    cancel(store, first)
    assert retry(store, first).changed == 1
    assert state_of(store, last) is State.CANCELED

    assert retry(store, last).changed == 1
    assert job_of(store, last).waits_for == ()
    assert sorted(claim_ids(store)) == sorted([first, other, last])


@promise(15)
def test_one_that_an_operator_canceled_and_retried_waits_again(store: Store) -> None:
    first = add_job(store)
    last = add_after(store, first)
    cancel(store, last)
    retry(store, last)

    assert job_of(store, last).waits_for == (first,)
    assert run_all(store) == [first, last]


@promise(15)
def test_one_that_was_canceled_meanwhile_stays_so(store: Store) -> None:
    first = add_job(store)
    last = add_after(store, first)
    cancel(store, last)
    assert run_all(store) == [first]

    assert (state_of(store, last), job_of(store, last).hold) == (State.CANCELED, 0)
    retry(store, last)
    assert claim_ids(store) == [last]


@promise(15)
def test_a_purge_takes_nothing_from_those_that_wait(store: Store) -> None:
    done, first = finished_job(store), add_job(store)
    last, gone = add_after(store, done, first), add_after(store, first)
    cancel(store, gone)
    removed = store.jobs.purge(JobFilter(), store.now() + timedelta(hours=1)).removed

    assert removed == 2
    assert run_all(store) == [first, last]


@promise(8, 15)
@needs(Capability.ORDER)
def test_order_and_dependency_hold_together(store: Store) -> None:
    first = add_job(store)
    head = add_after(store, first, ordering_key="a")
    behind = add_job(store, ordering_key="a")

    job = claim_one(store)
    assert (job.id, claim_ids(store)) == (first, [])
    settle(store, job, State.FAILED, entry="failed")
    assert state_of(store, head) is State.CANCELED
    assert claim_ids(store) == [behind]


@promise(5, 15)
@needs(Capability.UNIQUE_KEYS)
def test_a_key_that_is_taken_keeps_its_job_as_it_is(store: Store) -> None:
    first = add_job(store)
    [there] = add(store, keyed("k"))
    [again] = add(store, keyed("k", after=(first,)))

    assert (again.id, again.created) == (there.id, False)
    assert sorted(claim_ids(store)) == sorted([first, there.id])


@promise(1, 15)
def test_nobody_is_missed_and_nobody_runs_early(store: Store) -> None:
    """Half of the threads end jobs while the others add some that wait for them."""
    first = add_jobs(store, 24)
    done: set[str] = set()
    waits: dict[str, tuple[str, ...]] = {}
    early: list[str] = []
    lock = threading.Lock()

    def publish(number: int) -> None:
        for turn in range(6):
            chosen = tuple(sorted({first[(number * 5 + turn * 7 + n) % 24] for n in (0, 3, 11)}))
            added = add_after(store, *chosen)
            with lock:
                waits[added] = chosen

    def work(number: int) -> None:
        for _ in range(12):
            for job in claim_all(store, owner=f"w{number}", slots=2):
                run(job)

    def run(job: ClaimedJob) -> None:
        with lock:
            early.extend([job.id] if set(waits.get(job.id, ())) - done else [])
            done.add(job.id)
        assert settle_done(store, job) == [job.id]

    answers = at_once(8, lambda number: publish(number) if number % 2 else work(number))
    assert [answer for answer in answers if isinstance(answer, Exception)] == []
    while got := claim_all(store):
        for job in got:
            run(job)

    assert early == []
    assert done == {*first, *waits}
    assert count_of(store, states=(State.SUCCEEDED,)) == 24 + 4 * 6


def end_some(store: Store, owner: str, slots: int) -> int:
    """Claim a few; every third one fails. How many there were."""
    got = claim_all(store, owner=owner, slots=slots)
    for job in got:
        state = State.SUCCEEDED if sum(map(ord, job.id)) % 3 else State.FAILED
        assert settle(store, job, state, entry="done")
    return len(got)


@promise(1, 15)
def test_failures_and_cancels_leave_nobody_behind_either(store: Store) -> None:
    """While some end well, fail or are cancelled, others wait for them, and for those in turn."""
    known = add_jobs(store, 24)
    waits: dict[str, tuple[str, ...]] = {}

    def publish(number: int) -> None:
        for turn in range(8):
            behind = (known[(number * 7 + turn * 5) % len(known)], known[-1])
            added = add_after(store, *dict.fromkeys(behind))
            waits[added] = behind
            known.append(added)

    def work(number: int) -> None:
        for turn in range(6):
            end_some(store, f"w{number}", 3)
            cancel(store, known[number + turn])

    answers = at_once(8, lambda number: publish(number) if number % 2 else work(number))
    assert [answer for answer in answers if isinstance(answer, Exception)] == []
    while end_some(store, "last", 100):
        pass

    assert count_of(store, states=(State.QUEUED, State.RUNNING)) == 0
    for one, behind in waits.items():
        if any(state_of(store, other) in BAD for other in behind):
            assert state_of(store, one) is State.CANCELED


@promise(1, 15)
def test_two_that_end_at_once_set_free_who_waits_for_both(store: Store) -> None:
    for _ in range(5):
        pair = add_jobs(store, 2)
        last = add_after(store, *pair)
        jobs = claim_all(store)
        at_once(2, lambda number, jobs=jobs: settle_done(store, jobs[number]))  # type: ignore[misc]

        assert run_all(store) == [last]
