"""`tenure queues set`: options of a queue, and where they are shown."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tenure import Worker
from tests.cli.conftest import Shop


def test_options_are_set_shown_and_reset(shop: Shop) -> None:
    said = shop.call("queues", "set", "pdf", "--no-fair", "--ageing", "60", "--prefetch", "0")
    assert said.stdout == "queue pdf: oldest first, ageing 60 s, prefetch 0\n"
    assert "oldest first, ageing 60 s, prefetch 0" in shop.call("queues").stdout

    shop.call("queues", "set", "pdf", "--ageing", "off", "--prefetch", "auto")
    [queue] = shop.items("queues")
    assert queue["options"] == {"fair": False, "ageing": None, "prefetch": None}
    assert shop.call("queues", "set", "pdf", "--fair").stdout == "queue pdf: default options\n"

    assert shop.read("queues", "reset", "pdf") == {"name": "pdf", "options": {}}
    assert shop.items("queues") == []


def test_every_change_has_an_audit_line(shop: Shop) -> None:
    shop.call("queues", "set", "pdf", "--ageing", "60")
    shop.call("queues", "reset", "pdf")
    shop.call("queues", "reset", "pdf")

    lines = shop.items("audit")
    assert sorted(line["action"] for line in lines) == ["queue.reset", "queue.set"]


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ([], "give at least one of --fair"),
        (["--ageing", "soon"], "ageing must be a number or 'off'"),
        (["--ageing", "0"], "above 0 and up to 30 days"),
        (["--prefetch", "-1"], "from 0 (off) to 10,000"),
        (["--prefetch", "1.5"], "whole number"),
    ],
)
def test_what_cannot_be_is_refused(shop: Shop, given: list[str], problem: str) -> None:
    result = shop.call("queues", "set", "pdf", *given)

    assert result.exit_code == 2
    assert problem in result.stderr
    assert shop.items("queues") == []


def test_what_the_code_of_live_workers_says_is_shown_and_overridden(shop: Shop) -> None:
    engine = shop.engine
    engine.job("hang", queue="long")(lambda job: None)
    engine.queue("long", ageing=30, prefetch=2)
    shop.call("queues", "set", "long", "--prefetch", "0")

    with Worker(engine):
        [queue] = shop.items("queues")

    assert queue["options"] == {"fair": True, "ageing": 30, "prefetch": 0}


def test_a_lifted_job_shows_it(shop: Shop) -> None:
    engine = shop.engine
    early = engine.store.now() - timedelta(hours=1)
    ref = engine.enqueue("add", {"a": 1}, run_at=early)
    engine.store.queues.lift("default", 60.0)

    assert "1 (raised one step by the queue's ageing)" in shop.call("jobs", "show", ref.id).stdout
    assert shop.read("jobs", "show", ref.id)["lifted"] is True


def test_a_pause_shows_its_reason(shop: Shop) -> None:
    shop.call("queues", "pause", "pdf", "--reason", "the disk is full")

    assert "paused: the disk is full" in shop.call("queues").stdout
    [queue] = shop.items("queues")
    assert queue["pausedReason"] == "the disk is full"
    shop.call("queues", "resume", "pdf")
    assert shop.items("queues")[0]["pausedReason"] is None


def test_a_worker_is_asked_to_stop(shop: Shop) -> None:
    engine = shop.engine
    engine.job("hang")(lambda job: None)
    with Worker(engine) as worker:
        assert [one["workerId"] for one in shop.items("workers")] == [worker.id]
        said = shop.call("workers", "stop", worker.id)
    assert said.stdout == f"worker {worker.id} is asked to stop\n"
    refused = shop.call("workers", "stop", worker.id)
    assert refused.exit_code == 2
    assert "there is no worker" in refused.stderr
