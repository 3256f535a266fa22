"""OUTBOX_*: their defaults, their bounds, and that they have effect."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tenure import OptionError, RunningJob, Settings, Tenure, Worker
from tenure.features.documents import Documents
from tenure.features.outbox import Event, Outbox, OutboxSettings
from tenure.worker.assignment import assignment_of, slots_of
from tenure.worker.settings import WorkerSettings
from tests.support.databases import Databases
from tests.support.until import until


@pytest.fixture
def app(databases: Databases, tmp_path: Path) -> Iterator[Tenure]:
    made = Tenure(databases.empty(tmp_path), settings=Settings(poll_seconds=0.05))
    yield made
    made.close()


def test_the_defaults_are_those_of_old() -> None:
    assert OutboxSettings().model_dump() == {
        "batch_size": 50,
        "concurrency": 10,
        "lease_duration_ms": 60_000,
        "lease_heartbeat_ms": 15_000,
        "max_attempts": 3,
        "retry_base_ms": 5_000,
        "retry_max_ms": 120_000,
        "retry_jitter_ms": 500,
    }


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("OUTBOX_BATCH_SIZE", "0"),
        ("OUTBOX_CONCURRENCY", "many"),
        ("OUTBOX_LEASE_DURATION_MS", "1"),
        ("OUTBOX_LEASE_HEARTBEAT_MS", "-1"),
        ("OUTBOX_MAX_ATTEMPTS", "0"),
        ("OUTBOX_RETRY_BASE_MS", "120001"),
        ("OUTBOX_RETRY_MAX_MS", "100000000000"),
        ("OUTBOX_RETRY_JITTER_MS", "-1"),
    ],
)
@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
def test_a_value_out_of_bounds_is_named(
    app: Tenure, monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setenv(variable, value)

    with pytest.raises(OptionError, match=variable):
        Outbox(app)


def test_waits_double_up_to_the_most_and_chance_comes_on_top() -> None:
    retry = OutboxSettings().retry

    assert [retry.delay(n, lambda: 0.0) for n in (1, 2, 5, 6, 100)] == [5, 10, 80, 120, 120]
    assert retry.delay(1, lambda: 0.5) == 5.25
    assert (retry.attempts, retry.permanent(OptionError("x"))) == (3, True)
    assert not retry.permanent(RuntimeError())


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
def test_slots_batches_and_leases_come_from_the_environment(
    app: Tenure, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable, value in {
        "OUTBOX_BATCH_SIZE": "3", "OUTBOX_CONCURRENCY": "7", "PDF_RENDER_CONCURRENCY": "4",
        "OUTBOX_LEASE_DURATION_MS": "9000", "OUTBOX_LEASE_HEARTBEAT_MS": "1000",
    }.items():  # fmt: skip
        monkeypatch.setenv(variable, value)
    outbox = Outbox(app)
    Documents(app)
    outbox.on("created", subscriber="mailer")(nothing)
    outbox.on("created", subscriber="pdf", queue="pdf")(nothing)

    alone = assignment_of(app, WorkerSettings(tick_runners=("outbox",)))
    assert (alone.lease_seconds, alone.renew_every) == (9.0, 1.0)
    slots = slots_of(app, alone, 10, None)
    assert slots.capacity == {"outbox.dispatch": 7, "outbox": 7, "pdf": 4}
    assert slots.room() == {"outbox.dispatch": 3, "outbox": 3, "pdf": 4}
    assert assignment_of(app, WorkerSettings()).lease_seconds == 60.0


def nothing(job: RunningJob, event: Event) -> None:
    """A subscriber with nothing to do."""


def test_ten_pdfs_never_block_the_mails(app: Tenure) -> None:
    outbox, gate, lock = Outbox(app), threading.Event(), threading.Lock()
    Documents(app)
    mails: list[int] = []
    rendering: list[int] = []
    most: list[int] = []

    @outbox.on("invoice.pdf.render.requested", queue="pdf")
    def render(job: RunningJob, event: Event) -> None:
        with lock:
            rendering.append(event.data)
            most.append(len(rendering))
        gate.wait(60)
        with lock:
            rendering.remove(event.data)

    @outbox.on("invoice.email.requested")
    def mail(job: RunningJob, event: Event) -> None:
        mails.append(event.data)

    for number in range(10):
        outbox.publish(None, "invoice.pdf.render.requested", data=number)
    with Worker(app):
        try:
            until(lambda: len(rendering) == 2)
            for number in range(20):
                outbox.publish(None, "invoice.email.requested", data=number)
            until(lambda: len(mails) == 20)
            assert len(rendering) == 2
        finally:
            gate.set()
        until(lambda: len(most) == 10 and not rendering)

    assert sorted(mails) == list(range(20))
    assert max(most) == 2
