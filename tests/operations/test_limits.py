"""Limits as users say them: with a handler, by an operator, under a key, for a tenant."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from dataclasses import asdict

import pytest

from tenure import Limit, OptionError, RunningJob, Settings, State, Tenure, Worker
from tenure.operations.limits import LIMITS
from tenure.operations.tenants import CAPS, TENANTS
from tenure.stores.contract.parts import Record
from tenure.testing import run_until_idle
from tests.support.until import until


@pytest.fixture
def app(database_url: str) -> Iterator[Tenure]:
    made = Tenure(database_url, settings=Settings(poll_seconds=0.05))
    yield made
    made.close()


class Watch:
    """How many are inside at a time, and how many there were at most."""

    def __init__(self) -> None:
        self.inside = 0
        self.most = 0
        self._lock = threading.Lock()

    async def visit(self) -> None:
        with self._lock:
            self.inside += 1
            self.most = max(self.most, self.inside)
        for _ in range(5):
            await asyncio.sleep(0)
        with self._lock:
            self.inside -= 1


def succeeded(app: Tenure) -> int:
    return app.insight.counts().get(State.SUCCEEDED, 0)


def test_two_workers_together_keep_the_limit_of_a_handler(app: Tenure) -> None:
    watch = Watch()

    @app.job("narrow", limit=Limit(running=3))
    async def narrow(job: RunningJob) -> None:
        await watch.visit()

    app.enqueue_many([narrow.new() for _ in range(60)])
    with Worker(app, concurrency=10), Worker(app, concurrency=10):
        until(lambda: succeeded(app) == 60)

    assert 1 <= watch.most <= 3


def test_jobs_behind_a_full_kind_do_not_wait(app: Tenure) -> None:
    gate = asyncio.Event()

    @app.job("narrow", limit=Limit(running=1))
    async def narrow(job: RunningJob) -> None:
        await gate.wait()

    @app.job("free")
    async def free(job: RunningJob) -> None:
        return None

    app.enqueue_many([narrow.new() for _ in range(300)])
    app.enqueue_many([free.new() for _ in range(20)])
    worker = Worker(app, concurrency=10)
    with worker:
        until(lambda: succeeded(app) == 20)
        assert worker.stop_request.loop is not None
        worker.stop_request.loop.call_soon_threadsafe(gate.set)
        until(lambda: succeeded(app) == 320)


def test_each_key_has_a_limit_of_its_own(app: Tenure) -> None:
    watches = {name: Watch() for name in "ab"}

    @app.job("call", key_limit=Limit(running=2))
    async def call(job: RunningJob, name: str) -> None:
        await watches[name].visit()

    for name in "ab":
        bound = call.using(limit_key=name)
        app.enqueue_many([bound.new(name=name) for _ in range(30)])
    with Worker(app, concurrency=20):
        until(lambda: succeeded(app) == 60)

    assert [watch.most <= 2 for watch in watches.values()] == [True, True]


def test_what_an_operator_sets_goes_before_what_the_handler_says(app: Tenure) -> None:
    @app.job("work", limit=Limit(running=3))
    async def work(job: RunningJob) -> None:
        return None

    app.limits.set("work", Limit(running=8))
    assert app.limits.for_worker({}).kinds == {"work": Limit(running=8)}
    assert app.limits.forget("work")
    assert app.limits.for_worker({}).kinds == {"work": Limit(running=3)}
    assert app.limits.declared().kinds == {"work": Limit(running=3)}


def test_a_worker_runs_no_more_of_a_capped_tenant(app: Tenure) -> None:
    watch = Watch()

    @app.job("work")
    async def work(job: RunningJob) -> None:
        if job.tenant == "acme":
            await watch.visit()

    app.tenants.cap("acme", 2)
    app.enqueue_many(
        [work.using(tenant=name).new() for name in ("acme", "zeta") for _ in range(20)]
    )
    assert run_until_idle(app) == 40
    assert 1 <= watch.most <= 2


def test_every_tenant_has_its_cap_and_its_weight_however_many_there_are(app: Tenure) -> None:
    names = [f"tenant-{number:04}" for number in range(1_201)]
    with app.store.transaction() as tx:
        for name in names:
            app.store.records.upsert(Record(collection=CAPS, name=name, data={"jobs": 2}), tx)
            app.store.records.upsert(Record(collection=TENANTS, name=name, data={"weight": 3}), tx)

    assert app.tenants.caps() == dict.fromkeys(names, 2)
    assert app.tenants.weights() == dict.fromkeys(names, 3.0)


def test_every_kind_has_its_limit_however_many_there_are(app: Tenure) -> None:
    kinds = [f"kind-{number:04}" for number in range(501)]
    data = asdict(Limit(running=2))
    with app.store.transaction() as tx:
        for kind in kinds:
            app.store.records.upsert(Record(collection=LIMITS, name=kind, data=data), tx)

    assert [one.kind for one in app.limits.all()] == kinds


def test_a_waiting_job_says_that_it_is_the_limit(app: Tenure) -> None:
    @app.job("slow", limit=Limit(rate=1, per=3_600, burst=1))
    async def slow(job: RunningJob) -> None:
        return None

    refs = [slow.enqueue() for _ in range(2)]
    assert run_until_idle(app) == 1
    with Worker(app):
        told = app.insight.why(app.get(refs[1]))
    assert (told.code, "limit" in told.text) == ("limit", True)


def test_a_limit_of_the_wrong_sort_is_refused(app: Tenure) -> None:
    with pytest.raises(OptionError, match="a limit is a tenure"):
        app.limits.set("work", 5)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="a limit is a tenure"):
        app.job("work", limit=5)(_nothing)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="limit_key cannot be empty"):
        app.enqueue("work", limit_key="")
    with pytest.raises(OptionError, match="the cap of a tenant must be a whole number"):
        app.tenants.cap("acme", 0)


async def _nothing(job: RunningJob) -> None:
    return None


def test_tenants_of_odd_names_have_caps_of_their_own(app: Tenure) -> None:
    caps = {"": 3, "-": 4, "-x": 5, "x": 6}
    for tenant, jobs in caps.items():
        app.tenants.cap(tenant, jobs)

    assert app.tenants.caps() == caps
    assert app.tenants.uncap("-")
    assert app.tenants.caps() == {"": 3, "-x": 5, "x": 6}
