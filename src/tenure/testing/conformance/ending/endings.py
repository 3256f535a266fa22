"""Features follow the endings of jobs: once each, in the transaction that ends the job."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from tenure.core.capability import Capability
from tenure.core.endings import EndedJob, EndingFailed, Event, FeatureNeeded
from tenure.core.filter import JobFilter
from tenure.core.job import NewJob, State
from tenure.core.settlement import Settlement
from tenure.stores.contract import Change, Claim, Hook, Move, Store
from tenure.stores.contract.parts import Record, every
from tenure.stores.sql.statement import Statement
from tenure.testing.conformance.actions import (
    OOPS,
    add,
    add_job,
    cancel,
    claim_all,
    claim_one,
    finished_job,
    keyed,
    move,
    retry,
    settle,
    settle_done,
    state_of,
)
from tenure.testing.conformance.ending.ways_to_end import (
    BOTH,
    FOLLOWED,
    WAYS,
    expired,
    purge,
    running,
    swept,
)
from tenure.testing.conformance.endings_table import ENDING
from tenure.testing.conformance.promise import promise
from tenure.testing.tempo import Tempo

NEEDS = (
    Capability.ENDINGS,
    Capability.RECORDS,
    Capability.DEPENDENCIES,
    Capability.EXPIRY,
    Capability.ORDER,
    Capability.SUSPECTS,
)
NOTES = "probe"


class Probe:
    """Notes every event in a record of its own; the version of the record counts the events."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.broken = False

    def hook(self, event: Event, *kinds: str) -> Hook:
        """A hook that notes this event."""
        return Hook(NOTES, event, frozenset(kinds or (FOLLOWED,)), self._plans[event])

    @property
    def _plans(self) -> dict[Event, Any]:
        return {Event.ENDED: self.ended, Event.REOPENED: self.reopened, Event.PURGED: self.purged}

    def ended(self, jobs: Sequence[EndedJob]) -> Generator[Statement, Any, None]:
        yield from self._note(Event.ENDED, jobs)

    def reopened(self, jobs: Sequence[EndedJob]) -> Generator[Statement, Any, None]:
        yield from self._note(Event.REOPENED, jobs)

    def purged(self, jobs: Sequence[EndedJob]) -> Generator[Statement, Any, None]:
        yield from self._note(Event.PURGED, jobs)

    def _note(self, event: Event, jobs: Sequence[EndedJob]) -> Generator[Statement, Any, None]:
        for job in jobs:
            words = json.dumps({"former": job.former, "state": job.state})
            name = f"{job.id} {event}"
            values = {"collection": NOTES, "name": name, "version": 0, "data": words}
            yield Statement("upsert_record", values)
        if self.broken:
            raise RuntimeError("this feature is broken")

    def notes(self) -> dict[str, Record]:
        """What was noted, by job and event."""
        return {one.name: one for one in every(self._store.records, NOTES)}


@contextmanager
def followed(store: Store, *events: Event) -> Iterator[Probe]:
    """A feature that follows these events while the block lasts."""
    probe = Probe(store)
    for event in events or (Event.ENDED,):
        store.endings.add(probe.hook(event))
    try:
        yield probe
    finally:
        store.endings.remove(NOTES)


def try_to_end(end: Any) -> None:
    """The feature is broken: either the call fails, or the claim tells."""
    try:
        answer = end()
    except EndingFailed as error:
        assert "this feature is broken" in str(error)
        return
    claim = answer[1] if isinstance(answer, tuple) else answer
    assert isinstance(claim, Claim)
    assert all(isinstance(error, EndingFailed) for error in claim.unended.values())
    assert claim.unended


@promise(20)
@pytest.mark.parametrize("way", WAYS)
def test_a_feature_hears_of_an_ending_once_in_its_transaction(
    store: Store, tempo: Tempo, way: str, record_property: Any
) -> None:
    record_property(ENDING, (way, store.name))
    with followed(store) as probe:
        job_id, end, former = WAYS[way](store, tempo)
        before = probe.notes()
        probe.broken = True
        try_to_end(end)

        assert probe.notes() == before  # what it wrote went with the transaction
        if job_id:
            assert state_of(store, job_id) is former

        probe.broken = False
        answer = end()
        job_id = job_id or answer[0].id

        state = state_of(store, job_id)
        note = probe.notes()[f"{job_id} {Event.ENDED}"]
        known = before.get(note.name)
        assert state.final
        assert note.version == (known.version if known else 0) + 1
        assert note.data == {"former": former, "state": state}
        swept(store)
        assert probe.notes()[note.name].version == note.version


@promise(20)
def test_what_is_no_ending_is_not_told(store: Store, tempo: Tempo) -> None:
    with followed(store, Event.ENDED, Event.REOPENED) as probe:
        job = running(store, seconds=tempo.lease)
        settle(store, job, State.QUEUED, entry="error", failure=OOPS)
        again = claim_one(store, kinds=(FOLLOWED,))
        item = Settlement(again.lease, State.QUEUED, refund=True, returned=True)
        store.jobs.settle([item])
        claim_one(store, kinds=(FOLLOWED,), seconds=tempo.lease)
        tempo.passes(31)
        swept(store)
        other = add_job(store, FOLLOWED)
        move(store, other, Move.REPRIORITISE, priority=1)
        retry(store, other)
        add(store, keyed(kind=FOLLOWED))
        add(store, keyed(kind=FOLLOWED))

        assert probe.notes() == {}


@promise(20)
def test_a_job_that_is_started_anew_is_told_with_the_end_it_had(
    store: Store, record_property: Any
) -> None:
    record_property(ENDING, ("started anew by an operator", store.name))
    with followed(store, Event.ENDED, Event.REOPENED) as probe:
        job = running(store)
        settle(store, job, State.DEAD, entry="error", failure=OOPS)
        probe.broken = True
        with pytest.raises(EndingFailed):
            retry(store, job.id)
        assert state_of(store, job.id) is State.DEAD
        probe.broken = False
        retry(store, job.id)

        note = probe.notes()[f"{job.id} {Event.REOPENED}"]
        assert (note.version, note.data) == (1, {"former": "dead", "state": "queued"})


@promise(20)
def test_a_purge_is_told_in_its_transaction(store: Store, record_property: Any) -> None:
    record_property(ENDING, ("purged", store.name))
    with followed(store, Event.PURGED) as probe:
        job = running(store)
        settle_done(store, job)
        probe.broken = True
        with pytest.raises(EndingFailed):
            purge(store)
        assert state_of(store, job.id) is State.SUCCEEDED
        probe.broken = False

        assert purge(store).removed == 1
        assert [(n, one.version) for n, one in probe.notes().items()] == [(f"{job.id} purged", 1)]


@promise(20)
def test_a_purge_can_be_followed_for_every_kind(store: Store) -> None:
    with followed(store, Event.ENDED) as probe:
        store.endings.add(probe.hook(Event.PURGED, "*"))
        done = finished_job(store)
        later = store.now().replace(year=store.now().year + 1)
        store.jobs.purge(JobFilter(), later)

        assert [*probe.notes()] == [f"{done} {Event.PURGED}"]


@promise(20)
@pytest.mark.parametrize("path", ["settled", "canceled", "expired", "called off"])
def test_jobs_added_before_the_feature_are_followed_too(
    store: Store, tempo: Tempo, path: str, record_property: Any
) -> None:
    record_property(ENDING, (f"added before the feature: {path}", store.name))
    job_id = add_job(store, FOLLOWED, expires_seconds=tempo.lease if path == "expired" else None)
    with followed(store) as probe:
        if path == "settled":
            settle_done(store, claim_one(store, kinds=(FOLLOWED,)))
        elif path == "canceled":
            cancel(store, job_id)
        elif path == "expired":
            tempo.passes(31)
            swept(store)
        else:
            store.endings.remove(NOTES)
            first, behind = job_id, add_job(store, FOLLOWED, after=(job_id,))
            store.endings.add(probe.hook(Event.ENDED))
            cancel(store, first)
            job_id = behind

        assert probe.notes()[f"{job_id} {Event.ENDED}"].version == 1


@promise(20)
def test_a_process_without_the_feature_leaves_its_jobs_alone(store: Store, tempo: Tempo) -> None:
    with followed(store) as probe:
        store.endings.publish()
        lost = running(store, seconds=tempo.lease)
        cancel(store, lost.id)
        waiting = add_job(store, FOLLOWED)
        stale = expired(store, tempo)
        first = add_job(store)
        behind = add_job(store, FOLLOWED, after=(first,))
        store.endings.remove(NOTES)

        for refused in (waiting, first):
            with pytest.raises(FeatureNeeded, match=f"'{NOTES}'.*'{FOLLOWED}'"):
                cancel(store, refused)
        claim_all(store, kinds=("other",), thorough=True)

        assert [state_of(store, one) for one in (waiting, stale.job_id, behind)] == [
            State.QUEUED
        ] * 3
        assert state_of(store, lost.id) is State.RUNNING
        store.endings.add(probe.hook(Event.ENDED))
        swept(store)
        assert state_of(store, lost.id) is state_of(store, stale.job_id) is State.CANCELED


@promise(20)
def test_a_purge_without_the_feature_leaves_its_jobs_and_names_them(store: Store) -> None:
    with followed(store, Event.PURGED) as probe:
        job = running(store)
        settle_done(store, job)
        plain = finished_job(store)
        store.endings.remove(NOTES)
        later = store.now().replace(year=store.now().year + 1)

        done = store.jobs.purge(JobFilter(), later)
        assert (done.removed, [*done.left]) == (1, [FOLLOWED])
        assert store.jobs.get(plain) is None
        assert probe.notes() == {}
        assert state_of(store, job.id) is State.SUCCEEDED


@promise(20)
def test_a_broken_feature_keeps_no_other_job_from_ending_or_being_claimed(
    store: Store, tempo: Tempo
) -> None:
    with followed(store) as probe:
        stale = expired(store, tempo)
        plain = add_job(store, expires_seconds=tempo.lease)
        tempo.passes(31)
        due = add_job(store)
        probe.broken = True

        jobs = claim_all(store, kinds=BOTH)
        assert [job.id for job in jobs] == [due]
        assert state_of(store, plain) is State.CANCELED
        assert state_of(store, stale.job_id) is State.QUEUED
        assert settle_done(store, *jobs) == [due]


@promise(20)
def test_many_jobs_of_a_transaction_are_told_together(store: Store) -> None:
    seen: list[int] = []

    def count(jobs: Sequence[EndedJob]) -> Generator[Statement, Any, None]:
        seen.append(len(jobs))
        yield from ()

    store.endings.add(Hook(NOTES, Event.ENDED, frozenset([FOLLOWED]), count))
    try:
        add(store, *[NewJob(FOLLOWED) for _ in range(20)], *[NewJob("work") for _ in range(5)])
        jobs = claim_all(store, kinds=BOTH)
        assert len(settle_done(store, *jobs)) == 25
        assert seen == [20]

        add(store, *[NewJob(FOLLOWED) for _ in range(3)])
        change = Change(move=Move.CANCEL, actor="ada")
        assert store.jobs.change(JobFilter(kinds=(FOLLOWED,)), change).changed == 3
        assert seen == [20, 3]
    finally:
        store.endings.remove(NOTES)
