"""Why a job does not run, for those who ask often: what stands around is not asked for each."""

from __future__ import annotations

import pytest

from tenure import Tenure
from tenure.api import why_cache
from tenure.api.why_cache import WhyCache
from tenure.core.job import Job
from tenure.stores.contract import ClaimRequest


@pytest.fixture
def asked(engine: Tenure) -> list[str]:
    """What the database is asked from here on."""
    heard: list[str] = []
    engine.store.now()
    engine.store.measure(lambda name, seconds: heard.append(name))
    return heard


def running(engine: Tenure) -> Job:
    request = ClaimRequest(owner="w", kinds=["work"], slots={"default": 1}, lease_seconds=60)
    [claimed] = engine.store.jobs.claim(request).jobs
    return engine.get(claimed.id)


def test_only_its_place_is_asked_for_each(
    engine: Tenure, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(why_cache, "FRESH_SECONDS", 3_600)
    engine.enqueue("work")
    jobs = [running(engine), *(engine.get(engine.enqueue("work", delay=60)) for _ in range(3))]
    due = engine.get(engine.enqueue("work"))
    kept = WhyCache(engine)
    first = kept.why(due)
    assert asked
    asked.clear()

    assert [kept.why(job).code for job in jobs] == ["running", "run_at", "run_at", "run_at"]
    assert asked == []
    assert kept.why(engine.get(engine.enqueue("work"))).code == first.code == "no_worker"
    assert kept.why(due) is first


def test_nothing_is_older_than_it_may_be(engine: Tenure, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(why_cache, "FRESH_SECONDS", 0)
    job = engine.get(engine.enqueue("work"))
    kept = WhyCache(engine)
    assert kept.why(job).code == "no_worker"
    engine.operator.pause("default", "ada")

    assert kept.why(job).code == "paused"
