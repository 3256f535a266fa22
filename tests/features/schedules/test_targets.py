"""Fan-out: a job for each target, page by page, once."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from functools import partial
from typing import Any

import pytest

from tenure import NewJob, OptionError, Page, RunningJob, State, Tenure, Worker
from tenure.core.filter import JobFilter
from tenure.features.schedules import Schedules
from tenure.testing.clock import ManualClock
from tests.features.schedules.conftest import Make, run

TENANTS = [f"t{number:03d}" for number in range(25)]


def pages(after: str | None, size: int = 10) -> Page[str]:
    behind = [tenant for tenant in TENANTS if after is None or tenant > after]
    return Page(behind[:size], behind[size - 1] if len(behind) > size else None)


def billing(app: Tenure, pages: Any = pages, key: str | None = None) -> None:
    """`billing` on the first of the month, a `bill` for each tenant."""

    @app.job("bill")
    async def bill(job: RunningJob, month: str) -> None: ...

    @Schedules.of(app).cron("0 6 1 * *", slot_as="slot")
    @Schedules.of(app).for_each("billing", pages=pages)
    def each(tenant: str, slot: datetime) -> NewJob:
        named = None if key is None else key.format(tenant=tenant, slot=slot)
        options: Any = {"tenant": tenant}
        if named is not None:
            options |= {"key": named, "key_window": 3600.0}
        return bill.using(**options).new(month=f"{slot:%Y-%m}")


def bills(app: Tenure) -> Counter[str]:
    return Counter(job.tenant for job in app.insight.stream(JobFilter(kinds=("bill",))))


@pytest.mark.parametrize("key", [None, "{tenant}:{slot:%Y-%m}"], ids=["own key", "given key"])
def test_each_target_gets_one_job_and_each_page_is_one(
    make: Make, clock: ManualClock, key: str | None
) -> None:
    app = make(partial(billing, key=key))
    run(app)
    clock.advance(seconds=32 * 86_400)
    run(app)

    Worker(app).run_until_idle()

    assert bills(app) == dict.fromkeys(TENANTS, 1)
    walks = list(app.insight.stream(JobFilter(kinds=("billing",))))
    assert [app.get(walk.id).value for walk in walks] == [
        {"targets": 25, "more": False},
        {"targets": 20, "more": True},
        {"targets": 10, "more": True},
    ]
    months = {app.get(job.id).arguments["month"] for job in app.insight.stream() if job.tenant}
    assert months == {"2026-02"}


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
def test_another_run_makes_other_jobs_unless_the_key_says_otherwise(make: Make) -> None:
    app = make(billing)
    run(app)
    for _ in range(2):
        Schedules.of(app).run_now("billing")
    Worker(app).run_until_idle()

    assert bills(app) == dict.fromkeys(TENANTS, 2)


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
def test_a_key_of_ones_own_holds_over_several_runs(make: Make) -> None:
    app = make(partial(billing, key="{tenant}:{slot:%Y-%m}"))
    run(app)
    for _ in range(2):
        Schedules.of(app).run_now("billing")
    Worker(app).run_until_idle()

    assert bills(app) == dict.fromkeys(TENANTS, 1)


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
def test_a_target_on_two_pages_gets_one_job(make: Make) -> None:
    def overlapping(after: str | None) -> Page[str]:
        first, last = ["a", "b"], ["b", "c"]
        return Page(first, "b") if after is None else Page(last, None)

    app = make(partial(billing, pages=overlapping))
    app.enqueue("billing")
    Worker(app).run_until_idle()

    assert bills(app) == {"a": 1, "b": 1, "c": 1}


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
def test_no_targets_are_no_jobs(make: Make) -> None:
    app = make(partial(billing, pages=lambda after: Page([], None)))
    ref = app.enqueue("billing")
    Worker(app).run_until_idle()

    assert app.get(ref).value == {"targets": 0, "more": False}


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
@pytest.mark.parametrize(
    ("wrong", "words"),
    [(lambda after: Page([], "same"), "names itself"), (lambda after: Page([1], None), "text")],
)
def test_wrong_pages_end_the_run(make: Make, wrong: Any, words: str) -> None:
    app = make(partial(billing, pages=wrong))
    ref = app.enqueue("billing", {"after": "same"}, max_attempts=1)
    Worker(app).run_until_idle()

    assert app.get(ref).state in (State.FAILED, State.DEAD)
    [line] = [one for one in app.insight.history(app.get(ref)) if one.failure]
    assert words in str(line.failure)


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
def test_what_is_no_job_is_refused(make: Make) -> None:
    app = make()
    Schedules.of(app).for_each("walk", pages=pages)(lambda tenant, slot: None)  # type: ignore[arg-type, return-value]
    ref = app.enqueue("walk")
    Worker(app).run_until_idle()

    assert app.get(ref).state is State.FAILED


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
def test_coroutines_are_refused_at_the_call(make: Make) -> None:
    async def later(after: str | None) -> Page[str]:
        return Page([], None)

    with pytest.raises(OptionError, match="plain functions"):
        make(partial(billing, pages=later))
