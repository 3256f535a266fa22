"""Retry by outcome, from outside: what a job's history tells, on every database."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tenure import (
    Delays,
    Exponential,
    NotFound,
    Retry,
    RunningJob,
    Settings,
    State,
    Tenure,
    Throttled,
    Worker,
)
from tenure.testing import run_until_idle


@pytest.fixture
def served(database_url: str) -> Iterator[Tenure]:
    """An app on each database."""
    made = Tenure(database_url, settings=Settings(lease_seconds=30))
    yield made
    made.close()


def told(app: Tenure, ref: Any) -> list[tuple[str, str | None]]:
    lines = app.insight.history(app.get(ref))
    return [(line.entry, (line.failure or {}).get("bound")) for line in lines]


BY: dict[type[BaseException], Any] = {
    NotFound: Delays(0, attempts=3),
    ConnectionError: Delays(0, attempts=2),
}


def test_each_class_is_bounded_by_itself(served: Tenure) -> None:
    endings = iter([NotFound(), ConnectionError(), ValueError(), NotFound(), Throttled(0)])

    @served.job("lookup", retry=Delays(0, by=BY))
    def lookup(job: RunningJob) -> None:
        raise next(endings, NotFound("still not"))

    ref = lookup.enqueue()
    run_until_idle(served)

    job = served.get(ref)
    assert (job.state, job.attempt) == (State.NOT_FOUND, 2)
    assert told(served, ref) == [
        ("not_found", "NotFound 1 of 3"),
        ("error", "ConnectionError 1 of 2"),
        ("error", None),
        ("not_found", "NotFound 2 of 3"),
        ("throttled", "Throttled 1"),
        ("not_found", "NotFound 3 of 3"),
    ]


def test_an_operators_retry_starts_the_counts_anew(served: Tenure) -> None:
    @served.job("lookup", retry=Delays(by={NotFound: Delays(0, attempts=2)}))
    async def lookup(job: RunningJob) -> None:
        raise NotFound("no")

    ref = lookup.enqueue()
    run_until_idle(served)
    served.retry(ref.id)
    run_until_idle(served)

    bounds = ["NotFound 1 of 2", "NotFound 2 of 2"]
    assert [bound for _, bound in told(served, ref)] == [*bounds, None, *bounds]
    assert served.get(ref).state is State.NOT_FOUND


def test_settle_counts_too(served: Tenure) -> None:
    @served.job("here", retry=Delays(by={NotFound: Delays(0, attempts=2)}))
    def here(job: RunningJob) -> None:
        with job.settle(NotFound("no")):
            pass

    @served.job("there", retry=Delays(by={Retry: Delays(0, attempts=2)}))
    async def there(job: RunningJob) -> None:
        async with job.settle(Retry("no")):
            pass

    first, second = here.enqueue(), there.enqueue()
    run_until_idle(served)

    assert [bound for _, bound in told(served, first)] == ["NotFound 1 of 2", "NotFound 2 of 2"]
    assert [bound for _, bound in told(served, second)] == ["Retry 1 of 2", "Retry 2 of 2"]
    assert (served.get(first).state, served.get(second).state) == (State.NOT_FOUND, State.DEAD)


def test_a_throttled_job_keeps_its_attempts_and_waits_as_asked(app: Tenure) -> None:
    @app.job("call", retry=Exponential(attempts=1))
    async def call(job: RunningJob) -> None:
        raise Throttled(3600, "429 from the provider")

    ref = call.enqueue()
    run_until_idle(app)

    job = app.get(ref)
    assert (job.state, job.attempt, job.refunds) == (State.QUEUED, 0, 0)
    assert 3590 < (job.run_at - app.store.now()).total_seconds() <= 3600
    assert told(app, ref) == [("throttled", "Throttled 1")]


def test_a_timeout_may_be_named(app: Tenure) -> None:
    @app.job("slow", timeout=0.05, retry=Delays(by={TimeoutError: Delays(0, attempts=2)}))
    async def slow(job: RunningJob) -> None:
        import asyncio

        await asyncio.Event().wait()

    ref = slow.enqueue()
    run_until_idle(app)

    assert told(app, ref) == [
        ("timeout", "TimeoutError 1 of 2"),
        ("timeout", "TimeoutError 2 of 2"),
    ]
    assert app.get(ref).state is State.DEAD


def test_classes_of_a_handler_in_a_process_are_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THROTTLED_DATABASE", f"sqlite:///{tmp_path / 'jobs.db'}")
    from tests.worker import throttled_process as module

    app = Tenure(f"sqlite:///{tmp_path / 'jobs.db'}")
    lookup = app.job("lookup", retry=module.POLICY, runs_in="process")(module.lookup.function)
    gone, refused, slowed = (lookup.enqueue(how=how) for how in ("gone", "refused", "throttled"))
    Worker(app).run_until_idle()

    assert told(app, gone)[-1] == ("not_found", "Gone 2 of 2")
    assert told(app, refused)[-1] == ("error", "Refused 3 of 3")
    assert told(app, slowed) == [("throttled", "Throttled 1"), ("succeeded", None)]
    assert [app.get(one).state for one in (gone, refused)] == [State.NOT_FOUND, State.DEAD]
    app.close()
