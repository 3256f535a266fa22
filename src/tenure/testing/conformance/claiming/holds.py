"""Rules of single keys: limits of their own; holds of keys and kinds, with and without probes."""

from __future__ import annotations

from datetime import timedelta

from tenure.core.capability import Capability
from tenure.core.job import State
from tenure.core.rules.holds import KeyHold, new_hold
from tenure.core.rules.limits import Limit, Limits
from tenure.core.rules.order import Hold
from tenure.stores.contract import ClaimRequest, Store
from tenure.testing.conformance.actions import (
    HOUR,
    add_job,
    add_jobs,
    cancel,
    claim_all,
    claim_ids,
    job_of,
    settle,
    settle_done,
    state_of,
)
from tenure.testing.conformance.promise import needs, promise
from tenure.testing.tempo import Tempo

NEEDS = (Capability.LIMITS,)
BOTH = ("work", "other")


def hold(store: Store, key: str | None, seconds: float = HOUR, probes: int = 0) -> KeyHold:
    """Hold a key of `work`, or the kind."""
    now = store.now()
    until = now + timedelta(seconds=seconds)
    made = new_hold("work", key, now=now, until=until, reason="it is down", probes=probes)
    store.gates.hold(made)
    return made


def untouched(store: Store, *ids: str) -> bool:
    """Whether these jobs wait as if nobody had ever claimed them."""
    jobs = [job_of(store, job_id) for job_id in ids]
    spent = {(job.state, job.attempt, job.snoozes, job.refunds, job.started_at) for job in jobs}
    return spent == {(State.QUEUED, 0, 0, 0, None)}


@promise(21)
def test_no_job_of_a_held_key_starts(store: Store) -> None:
    held = add_jobs(store, 5, limit_key="acme")
    others = add_jobs(store, 2, limit_key="zeta") + add_jobs(store, 2)
    hold(store, "acme")

    assert sorted(claim_ids(store)) == sorted(others)
    assert claim_ids(store, owner="b") == []
    assert untouched(store, *held)
    assert {job_of(store, job_id).hold for job_id in held} == {Hold.LIMIT}


@promise(21)
def test_no_job_of_a_held_kind_starts(store: Store) -> None:
    held = add_jobs(store, 2, limit_key="acme") + add_jobs(store, 2)
    others = add_jobs(store, 2, kind="other", limit_key="acme")
    hold(store, None)

    assert claim_ids(store, kinds=BOTH) == others
    assert untouched(store, *held)
    assert store.gates.release("work", None)
    assert sorted(claim_ids(store, kinds=BOTH)) == sorted(held)


@promise(21)
def test_held_jobs_do_not_stand_before_others(store: Store) -> None:
    held = add_jobs(store, 60, limit_key="acme")
    others = add_jobs(store, 3)
    hold(store, "acme")

    found: list[str] = []
    for _ in range(60):
        found += claim_ids(store, slots=3)
    assert found == others
    assert untouched(store, *held)


@promise(21)
def test_a_job_that_is_added_during_a_hold_waits_too(store: Store) -> None:
    hold(store, "acme")
    assert claim_ids(store) == []
    late = add_job(store, limit_key="acme")

    assert claim_ids(store) == []
    assert untouched(store, late)


@promise(21)
def test_a_release_lets_all_go_on_in_their_order(store: Store) -> None:
    late = add_jobs(store, 2, limit_key="acme", priority=3)
    held = add_jobs(store, 4, limit_key="acme")
    hold(store, "acme")
    assert claim_ids(store) == []
    assert store.gates.release("work", "acme")

    assert claim_ids(store) == held + late
    assert not store.gates.release("work", "acme")


@promise(21)
def test_many_held_jobs_all_go_on(store: Store) -> None:
    held = add_jobs(store, 1_200, limit_key="acme")
    hold(store, "acme")
    while store.jobs.claim(_everything()).look_in == 0.0:
        continue
    store.gates.release("work", "acme")

    found: list[str] = []
    for _ in range(5):
        found += claim_ids(store, slots=1_000)
    assert sorted(found) == sorted(held)


@promise(21)
@promise(7)
def test_a_hold_ends_when_its_time_is_over(store: Store, tempo: Tempo) -> None:
    held = add_jobs(store, 3, limit_key="acme")
    hold(store, "acme", tempo.seconds(50))
    assert claim_ids(store) == []
    tempo.passes(51)

    assert claim_ids(store) == held
    assert store.gates.holds() == []


@promise(21)
def test_a_claim_says_when_to_look_for_the_end_of_a_hold(store: Store) -> None:
    add_jobs(store, 3, limit_key="acme")
    hold(store, "acme")
    while (look_in := store.jobs.claim(_everything()).look_in) == 0.0:
        continue

    assert look_in is not None
    assert 0 < look_in < 1


@promise(21)
def test_a_hold_replaces_the_one_before(store: Store, tempo: Tempo) -> None:
    held = add_jobs(store, 2, limit_key="acme")
    hold(store, "acme")
    assert claim_ids(store) == []
    second = hold(store, "acme", tempo.seconds(50))
    assert store.gates.holds() == [second]
    tempo.passes(51)

    assert claim_ids(store) == held


@promise(21)
def test_one_job_tries_after_a_hold_with_a_probe_and_no_other(store: Store, tempo: Tempo) -> None:
    held = add_jobs(store, 9, limit_key="acme")
    hold(store, "acme", tempo.seconds(100), probes=1)
    assert claim_ids(store) == []

    for window in range(3):
        tempo.passes(101)
        [trying] = claim_all(store)
        assert trying.id == held[window]
        assert claim_ids(store) == []
        assert claim_ids(store, owner="b") == []
        settle(store, trying, State.FAILED)
        assert claim_ids(store) == []
    assert untouched(store, *held[3:])

    assert store.gates.release("work", "acme")
    assert claim_ids(store) == held[3:]


@promise(21)
def test_a_probe_that_holds_again_starts_a_new_time(store: Store, tempo: Tempo) -> None:
    held = add_jobs(store, 4, limit_key="acme")
    hold(store, "acme", tempo.seconds(100), probes=1)
    assert claim_ids(store) == []
    tempo.passes(101)
    [trying] = claim_all(store)
    hold(store, "acme", HOUR, probes=1)
    settle(store, trying, State.FAILED)
    tempo.passes(101)

    assert claim_ids(store) == []
    assert untouched(store, *held[1:])


@promise(21)
def test_nobody_tries_while_nobody_waits(store: Store, tempo: Tempo) -> None:
    first = add_job(store, limit_key="acme")
    hold(store, "acme", tempo.seconds(50), probes=1)
    assert claim_ids(store) == []
    cancel(store, first)
    tempo.passes(51)
    assert claim_ids(store) == []

    second = add_job(store, limit_key="acme")
    assert claim_ids(store) == [second]


@promise(21)
def test_one_job_of_a_kind_tries_whatever_its_key(store: Store, tempo: Tempo) -> None:
    for key in ("a", "b", "c"):
        add_jobs(store, 2, limit_key=key)
    hold(store, None, tempo.seconds(50), probes=1)
    assert claim_ids(store) == []
    tempo.passes(51)

    assert len(claim_ids(store)) == 1
    assert claim_ids(store, owner="b") == []


@promise(21)
@promise(17)
def test_a_limit_of_one_key_overrides_that_of_each_key(store: Store) -> None:
    two = Limits(keys={"work": Limit(running=2)})
    for key in ("acme", "zeta"):
        add_jobs(store, 5, limit_key=key)
    assert not store.gates.limit("work", "acme", Limit(running=4))

    running = claim_all(store, limits=two)
    assert len(running) == 6
    assert store.gates.limit("work", "acme", None)
    settle_done(store, *running)
    assert len(claim_ids(store, limits=two)) == 3


@promise(21)
@promise(17)
def test_a_key_may_have_a_limit_where_its_kind_has_none(store: Store) -> None:
    add_jobs(store, 5, limit_key="acme")
    others = add_jobs(store, 5, limit_key="zeta")
    store.gates.limit("work", "acme", Limit(running=1))

    assert len(claim_ids(store)) == 6
    assert claim_ids(store, owner="b") == []
    store.gates.limit("work", "acme", None)
    assert len(claim_ids(store)) == 4
    assert {state_of(store, job_id) for job_id in others} == {"running"}


@promise(21)
@promise(17)
def test_a_key_has_a_rate_of_its_own(store: Store, tempo: Tempo) -> None:
    add_jobs(store, 9, limit_key="acme")
    limit = Limit(rate=1, per=tempo.seconds(100), burst=2)
    store.gates.limit("work", "acme", limit)

    assert len(claim_ids(store)) == 2
    assert claim_ids(store, owner="b") == []
    assert [(one.key, one.limit) for one in store.gates.limits()] == [("acme", limit)]
    assert store.gates.begins(["work", "other"]) == {"work"}


@promise(21)
@promise(17)
def test_keys_may_be_any_text(store: Store) -> None:
    odd = ("é", "e", "E", "😀 'x'", 'a"\\b', "%s")
    for key in odd:
        add_jobs(store, 3, limit_key=key)
        store.gates.limit("work", key, Limit(running=1))
    first = claim_all(store)
    assert len(first) == len(odd)
    settle_done(store, *first)
    assert len(claim_ids(store)) == len(odd)
    assert {one.key for one in store.gates.limits()} == set(odd)


@promise(21)
def test_a_hold_and_a_limit_of_a_key_are_apart(store: Store) -> None:
    add_jobs(store, 5, limit_key="acme")
    store.gates.limit("work", "acme", Limit(running=2))
    hold(store, "acme")
    assert claim_ids(store) == []

    store.gates.release("work", "acme")
    assert len(claim_ids(store)) == 2
    hold(store, "acme")
    assert store.gates.limit("work", "acme", None)
    assert len(store.gates.holds()) == 1
    assert claim_ids(store) == []


@promise(21)
@needs(Capability.TRANSACTIONS)
def test_a_hold_belongs_to_the_callers_transaction(store: Store) -> None:
    now = store.now()
    made = new_hold("work", "acme", now=now, until=now + timedelta(hours=1), reason="x", probes=0)
    with store.transaction() as tx:
        store.gates.hold(made, tx)
    assert store.gates.holds() == [made]
    with store.transaction() as tx:
        assert store.gates.release("work", "acme", tx)
    assert store.gates.holds() == []


def _everything() -> ClaimRequest:
    return ClaimRequest(
        owner="worker", kinds=["work"], slots={"default": 500}, lease_seconds=HOUR, thorough=True
    )
