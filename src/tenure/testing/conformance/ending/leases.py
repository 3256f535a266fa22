"""What a holder says while it runs: longer leases, progress, log lines. All under its fence."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tenure.core.capability import Capability
from tenure.core.errors import OptionError
from tenure.core.lease import Lease
from tenure.stores.contract import Extension, LogLine, Report, Store
from tenure.testing.conformance.actions import (
    add_jobs,
    cancel,
    claim_all,
    claim_ids,
    claim_one,
    job_of,
    settle_done,
    start_job,
)
from tenure.testing.conformance.promise import needs, promise
from tenure.testing.tempo import Tempo


@promise(2)
def test_an_extended_lease_outlasts_its_first_end(store: Store, tempo: Tempo) -> None:
    job = start_job(store, seconds=tempo.lease)

    assert store.jobs.extend([job.lease], tempo.hour) == Extension()
    tempo.passes(31)
    assert claim_ids(store) == []


@promise(2)
def test_an_extension_counts_from_now(store: Store) -> None:
    job = start_job(store, seconds=60)
    before = store.now()
    store.jobs.extend([job.lease], 600)

    until = job_of(store, job.id).lease_until
    assert until is not None
    assert timedelta() <= until - before - timedelta(seconds=600) < timedelta(seconds=10)


@promise(3)
def test_an_overtaken_holder_is_told_that_its_lease_is_lost(store: Store, tempo: Tempo) -> None:
    first = start_job(store, seconds=tempo.lease)
    tempo.passes(31)
    claim_one(store, owner="b")
    until = job_of(store, first.id).lease_until

    assert store.jobs.extend([first.lease], 9999).lost == {first.id}
    assert job_of(store, first.id).lease_until == until


@promise(3)
def test_a_settled_lease_is_lost(store: Store) -> None:
    job = start_job(store)
    settle_done(store, job)

    assert store.jobs.extend([job.lease], 60).lost == {job.id}


@promise(3)
def test_a_lease_that_never_was_is_lost(store: Store) -> None:
    job = start_job(store)
    made_up = [Lease("999999", 1, "worker"), Lease(job.id, 7, "worker")]

    assert store.jobs.extend(made_up, 60).lost == {"999999", job.id}


@promise(3)
def test_of_many_leases_only_the_lost_ones_are_named(store: Store) -> None:
    add_jobs(store, 30)
    jobs = claim_all(store)
    gone = jobs[::3]
    settle_done(store, *gone)

    answer = store.jobs.extend([job.lease for job in jobs], 60)

    assert answer.lost == {job.id for job in gone}
    assert answer.cancel == frozenset()


@promise(2)
def test_an_extension_brings_the_news_of_a_cancel(store: Store) -> None:
    add_jobs(store, 2)
    first, second = claim_all(store)
    cancel(store, first.id)

    answer = store.jobs.extend([first.lease, second.lease], 60)

    assert answer == Extension(lost=frozenset(), cancel=frozenset({first.id}))


def test_nothing_to_extend_is_nothing_lost(store: Store) -> None:
    assert store.jobs.extend([], 60) == Extension()


@needs(Capability.REPORTS)
def test_progress_and_log_lines_are_kept(store: Store) -> None:
    job = start_job(store)
    said = store.now() - timedelta(seconds=5)
    lines = [LogLine("merging", at=said), LogLine("100 % done", level="warning")]

    refused = store.jobs.report(
        [Report(lease=job.lease, progress=0.25, note="page 1", lines=lines)]
    )

    stored = job_of(store, job.id)
    assert refused == frozenset()
    assert (stored.progress, stored.progress_note) == (0.25, "page 1")
    first, second = store.jobs.logs(job.id)
    assert first == LogLine("merging", "info", said)
    assert (second.message, second.level) == ("100 % done", "warning")
    assert second.at is not None


@needs(Capability.REPORTS)
def test_a_report_changes_only_what_it_names(store: Store) -> None:
    job = start_job(store)
    store.jobs.report([Report(lease=job.lease, progress=0.5, note="half")])
    store.jobs.report([Report(lease=job.lease, lines=[LogLine("x")])])
    store.jobs.report([Report(lease=job.lease, progress=0.75)])

    stored = job_of(store, job.id)
    assert (stored.progress, stored.progress_note) == (0.75, "half")


@promise(3)
@needs(Capability.REPORTS)
def test_a_stale_report_is_refused_whole(store: Store, tempo: Tempo) -> None:
    first = start_job(store, seconds=tempo.lease)
    tempo.passes(31)
    claim_one(store, owner="b")

    report = Report(lease=first.lease, progress=0.9, note="late", lines=[LogLine("late")])

    assert store.jobs.report([report]) == {first.id}
    stored = job_of(store, first.id)
    assert (stored.progress, stored.progress_note) == (None, None)
    assert store.jobs.logs(first.id) == []


@promise(3)
@needs(Capability.REPORTS)
def test_of_many_reports_only_the_stale_ones_are_refused(store: Store) -> None:
    add_jobs(store, 2)
    held, lost = claim_all(store)
    settle_done(store, lost)

    reports = [Report(lease=job.lease, lines=[LogLine(job.id)]) for job in (lost, held)]

    assert store.jobs.report(reports) == {lost.id}
    assert [line.message for line in store.jobs.logs(held.id)] == [held.id]
    assert store.jobs.logs(lost.id) == []


@needs(Capability.REPORTS)
def test_two_reports_of_one_job_may_come_together(store: Store) -> None:
    job = start_job(store)
    reports = [
        Report(lease=job.lease, progress=0.5),
        Report(lease=job.lease, lines=[LogLine("x")]),
    ]

    assert store.jobs.report(reports) == frozenset()
    assert len(store.jobs.logs(job.id)) == 1


@needs(Capability.REPORTS)
def test_log_lines_come_oldest_first_and_bounded(store: Store) -> None:
    job = start_job(store)
    lines = [LogLine(str(number)) for number in range(20)]
    store.jobs.report([Report(lease=job.lease, lines=lines)])

    assert [line.message for line in store.jobs.logs(job.id)] == [str(n) for n in range(20)]
    assert len(store.jobs.logs(job.id, limit=3)) == 3


@needs(Capability.REPORTS)
def test_log_lines_are_read_page_by_page(store: Store) -> None:
    job, other = start_job(store), start_job(store)
    for number in range(0, 20, 2):
        lines = [LogLine(str(number)), LogLine(str(number + 1))]
        store.jobs.report([Report(lease=job.lease, lines=lines)])
        store.jobs.report([Report(lease=other.lease, lines=lines)])
    found: list[str] = []
    after = None
    while page := store.jobs.logs(job.id, 7, after):
        assert len(page) <= 7
        found += [line.message for line in page]
        after = page[-1].id

    assert found == [str(number) for number in range(20)]
    with pytest.raises(OptionError, match="'x' is not the id of a log line"):
        store.jobs.logs(job.id, 7, "x")


def test_no_reports_are_nothing_refused(store: Store) -> None:
    assert store.jobs.report([]) == frozenset()
