"""A worker runs jobs on a store that lacks nearly everything; what it lacks raises one error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tenure import NO_RETRY, Limit, Settings, State, Tenure
from tenure.core.capability import Capability, CapabilityError
from tenure.core.errors import StoreError
from tenure.core.timing.budget import Budget
from tenure.features.schedules import Schedules
from tenure.stores import open_store
from tenure.stores.contract.combined import combine
from tenure.stores.contract.needs import GuardedJobs, guarded, need
from tenure.stores.sql.store import sql_store
from tenure.testing.engine import on_store, run_until_idle
from tenure.worker import Worker
from tests.stores.memory_jobs import MemoryJobs

TOMORROW = datetime.now(UTC) + timedelta(days=1)


@pytest.fixture
def app(tmp_path: Path) -> Iterator[Tenure]:
    """Jobs in memory; locks and records in SQLite."""
    url = f"sqlite:///{tmp_path / 'others.db'}"
    jobs = MemoryJobs(lambda: datetime.now(UTC))
    made = Tenure(url, settings=Settings(lease_seconds=30))
    with on_store(made, combine(jobs=jobs, others=open_store(url)), url):
        yield made


def refused(error: pytest.ExceptionInfo[CapabilityError], capability: Capability) -> None:
    assert error.value.capability is capability
    assert str(error.value).startswith(f"the memory store does not support {capability.words};")


def test_a_worker_runs_jobs_that_another_store_keeps(app: Tenure) -> None:
    @app.job("add")
    def add(job: Any, one: int, other: int) -> int:
        return one + other

    @app.job("fail", retry=NO_RETRY)
    async def fail(job: Any) -> None:
        raise ValueError("no")

    good, bad = add.enqueue(one=1, other=2), fail.enqueue()
    later = add.using(run_at=TOMORROW.replace(microsecond=0)).enqueue(one=1, other=1)

    run_until_idle(app)

    assert good.id.startswith("m")
    assert app.get(good).result == 3
    assert app.get(bad).state is State.DEAD
    assert app.get(later).state is State.QUEUED
    assert [job.id for job in app.insight.stream()] == [later.id, bad.id, good.id]


def test_a_background_worker_hears_of_them_and_its_operator_moves_them(app: Tenure) -> None:
    @app.job("echo")
    def echo(job: Any, text: str) -> str:
        return text

    with Worker(app):
        ref = echo.enqueue(text="hello")
        assert app.wait(ref, 20).result == "hello"
    waiting = echo.enqueue(text="never")
    app.cancel(waiting)

    assert app.get(waiting).state is State.CANCELED


ENQUEUES: dict[Capability, dict[str, Any]] = {
    Capability.UNIQUE_KEYS: {"key": "k"},
    Capability.ORDER: {"ordering_key": "k"},
    Capability.DEPENDENCIES: {"after": ["m000000001"]},
    Capability.EXPIRY: {"expires": TOMORROW},
    Capability.LIMITS: {"limit_key": "acme"},
}


@pytest.mark.parametrize("capability", ENQUEUES)
def test_a_job_that_asks_for_too_much_is_refused_and_not_added(
    app: Tenure, capability: Capability
) -> None:
    with pytest.raises(CapabilityError) as error:
        app.enqueue("work", {}, **ENQUEUES[capability])

    refused(error, capability)
    assert list(app.insight.stream()) == []


def pause(app: Tenure) -> None:
    app.operator.pause("default")


def begin(app: Tenure) -> None:
    with app.transaction():
        raise AssertionError("not reached")


CALLS: dict[Capability, Callable[[Tenure], object]] = {
    Capability.PAUSE: pause,
    Capability.TRANSACTIONS: begin,
    Capability.LIMITS: lambda app: app.limits.set("work", Limit(running=1)),
    Capability.SHARES: lambda app: app.tenants.weigh("acme", 2),
    Capability.COUNTS: lambda app: app.store.queues.depths(),
    Capability.AGEING: lambda app: app.store.queues.lift("default", 1.0),
    Capability.HISTORY: lambda app: app.store.jobs.history("m000000001"),
    Capability.REPORTS: lambda app: app.store.jobs.logs("m000000001"),
    Capability.STEPS: lambda app: app.store.steps.recall("m000000001"),
    Capability.SQL: lambda app: sql_store(app.store),
}


@pytest.mark.parametrize("capability", CALLS)
def test_a_call_that_asks_for_too_much_is_refused(app: Tenure, capability: Capability) -> None:
    with pytest.raises(CapabilityError) as error:
        CALLS[capability](app)

    refused(error, capability)


HANDLERS: dict[Capability, Callable[[Any], object]] = {
    Capability.STEPS: lambda job: job.step("one", lambda: 1),
    Capability.REPORTS: lambda job: job.progress(0.5),
    Capability.TRANSACTIONS: lambda job: job.settle().__enter__(),
}


@pytest.mark.parametrize("capability", HANDLERS)
def test_a_handler_that_asks_for_too_much_gets_the_error(
    app: Tenure, capability: Capability
) -> None:
    raised: list[CapabilityError] = []

    @app.job("work")
    def work(job: Any) -> None:
        try:
            HANDLERS[capability](job)
        except CapabilityError as error:
            raised.append(error)

    work.enqueue()
    run_until_idle(app)

    assert [error.capability for error in raised] == [capability]


def test_schedules_are_refused_where_they_cannot_be_kept(app: Tenure) -> None:
    schedules = Schedules(app)

    @schedules.cron("30 2 * * *")
    @app.job("work")
    def work(job: Any) -> None:
        """Never."""

    [runner] = schedules.runners
    with pytest.raises(CapabilityError) as error:
        runner.run(Budget())

    assert error.value.capability in (Capability.TRANSACTIONS, Capability.UNIQUE_KEYS)


def test_a_store_that_can_do_everything_is_not_wrapped(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path / 'jobs.db'}")

    assert guarded(store.jobs) is store.jobs
    assert isinstance(guarded(MemoryJobs(lambda: TOMORROW)), GuardedJobs)
    need(store, *(set(Capability) - {Capability.WAKE_UPS}))
    assert sql_store(store) is store
    store.close()


def test_the_error_is_no_trouble_of_the_database() -> None:
    assert not issubclass(CapabilityError, StoreError)
    assert not CapabilityError.retryable
