"""Retention: what has ended long ago goes, one pruner at a time, and nobody waits for it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from tenure import Fail, RunningJob, Settings, State, Tenure, Worker
from tenure.core.filter import JobFilter
from tenure.core.job import NewJob
from tenure.core.timing.budget import Budget
from tenure.stores.contract import Change, Move
from tenure.testing.clock import ManualClock
from tenure.testing.conformance.actions import add, keyed
from tenure.worker.settings import WorkerSettings
from tenure.worker.upkeep.pruning import PRUNING, Pruner, fitting
from tests.support.databases import Databases, engine_for
from tests.support.until import until

DAY = 86_400.0
SOON = WorkerSettings(idle_backoff_min_ms=1, idle_backoff_max_ms=5, idle_backoff_jitter_ms=0)
Make = Callable[..., Tenure]


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def make(databases: Databases, tmp_path: Path, clock: ManualClock) -> Iterator[Make]:
    """Apps on one database, each with its settings; a day is kept unless they say otherwise."""
    url, made = databases.empty(tmp_path), []

    def app(**settings: Any) -> Tenure:
        asked: Any = {"keep_seconds": DAY, "lease_seconds": 30, **settings}
        made.append(shop(Tenure(url, settings=Settings(**asked), clock=clock)))
        return made[-1]

    yield app
    for one in made:
        one.close()


def shop(app: Tenure) -> Tenure:
    """One kind that does well, and one that fails."""

    @app.job("well")
    async def well(job: RunningJob) -> None:
        job.log("done")

    @app.job("badly")
    async def badly(job: RunningJob) -> None:
        raise Fail("never")

    return app


def run(app: Tenure, clock: ManualClock, count: int = 1, kind: str = "well") -> list[str]:
    """So many jobs of a kind, run; then two days go by."""
    refs = app.enqueue_many([app.new(kind) for _ in range(count)])
    Worker(app).run_until_idle()
    clock.advance(seconds=2 * DAY)
    return [ref.id for ref in refs]


def prune(app: Tenure, **budget: Any) -> int:
    """One turn of a pruner that comes and goes."""
    return Pruner(app, "w", lambda: False).once(Budget(**budget))


def ids(app: Tenure) -> list[str]:
    return [job.id for job in reversed(list(app.insight.stream()))]


def test_what_succeeded_or_was_canceled_goes_when_its_time_is_over(
    make: Make, clock: ManualClock
) -> None:
    app = make()
    (canceled,) = run(app, clock, 1, "unknown")
    app.cancel(canceled)
    run(app, clock, 3)
    recent = app.enqueue("well").id
    Worker(app).run_until_idle()
    waiting = app.enqueue("unknown").id

    assert prune(app) == 4
    assert ids(app) == [recent, waiting]
    assert prune(app) == 0


def test_failed_and_dead_jobs_stay_unless_they_are_named(make: Make, clock: ManualClock) -> None:
    app = make()
    failed = run(app, clock, 3, "badly")

    assert prune(app) == 0
    assert ids(app) == failed
    assert prune(make(keep_dead_letters_seconds=10 * DAY)) == 0
    assert prune(make(keep_dead_letters_seconds=DAY)) == 3
    assert ids(app) == []


def test_for_ever_keeps_jobs_and_lets_old_keys_go(make: Make, clock: ManualClock) -> None:
    app = make(keep_seconds="forever")
    kept = run(app, clock, 2)
    add(app.store, keyed("k", window=10.0))
    clock.advance(seconds=11)

    assert prune(app) == 0
    assert set(kept) < set(ids(app))
    assert app.store.jobs.purge(JobFilter(ids=()), app.store.now()).keys == 0


def test_a_budget_of_items_really_stops(make: Make, clock: ManualClock) -> None:
    app = make(prune_chunk=4)
    run(app, clock, 10)

    assert prune(app, items=6) == 6
    assert prune(app, items=6) == 4


def test_a_walk_goes_on_where_the_last_one_stopped(make: Make, clock: ManualClock) -> None:
    app = make(keep_seconds=2 * DAY, prune_chunk=1)
    stay = [ref.id for ref in app.enqueue_many([app.new("unknown") for _ in range(2_100)])]
    clock.advance(seconds=1.5 * DAY)
    app.cancel(stay[0])
    app.enqueue_many([app.new("well") for _ in range(5)])
    Worker(app).run_until_idle()
    clock.advance(seconds=1.5 * DAY)
    assert prune(app) == 0
    reached = place(app)
    assert int(stay[1_900]) < reached <= int(stay[-1])

    clock.advance(seconds=0.9 * DAY)
    assert prune(app) == 5
    assert place(app) >= reached
    assert stay[0] in ids(app)  # behind the walk: the next one from the start meets it

    clock.advance(seconds=0.2 * DAY)
    assert prune(app) == 1
    assert stay[0] not in ids(app)


def place(app: Tenure) -> int:
    record = app.store.records.find(PRUNING, "finished")
    assert record is not None
    return int(record.data["after"] or 0)


def test_jobs_that_are_too_young_are_not_walked_over(make: Make, clock: ManualClock) -> None:
    app = make(prune_chunk=1)
    app.enqueue_many([app.new("unknown") for _ in range(2_100)])

    prune(app)

    assert place(app) == 0


def test_two_pruners_are_one(make: Make, clock: ManualClock) -> None:
    app = make()
    run(app, clock, 3)
    first, second = (Pruner(app, name, lambda: False) for name in "ab")
    assert first.turn(Budget(items=1)) == 1

    assert second.turn(Budget()) == 0
    assert [lock.owner for lock in app.store.locks.list()] == ["a"]
    first.release()
    assert second.turn(Budget()) == 2


def test_the_lock_of_a_pruner_that_died_is_taken_over(make: Make, clock: ManualClock) -> None:
    app = make()
    run(app, clock, 3)
    Pruner(app, "dead", lambda: False).turn(Budget(items=1))
    assert prune(app) == 0

    clock.advance(seconds=61)

    assert prune(app) == 2


def test_a_worker_that_is_told_to_stop_removes_nothing_more(make: Make, clock: ManualClock) -> None:
    app = make()
    run(app, clock, 3)

    assert Pruner(app, "w", lambda: True).once(Budget()) == 0
    assert app.store.locks.list() == []


def test_a_tick_prunes(make: Make, clock: ManualClock) -> None:
    app = make()
    run(app, clock, 3)

    report = Worker(app).tick()

    done = {one.name: one.processed for one in report.runners}
    assert done == {"schedules": 0, "jobs": 0, PRUNING: 3}
    assert app.store.locks.list() == []


def test_a_worker_prunes_in_the_background_and_leaves_the_lock(
    make: Make, clock: ManualClock
) -> None:
    app = make(prune_chunk=2)
    failed = run(app, clock, 1, "badly")
    run(app, clock, 7)
    purged: list[int] = []
    app.signals.subscribe(lambda _, facts: purged.append(facts["jobs"]), "jobs.purged")

    with Worker(app, settings=SOON), Worker(make(), settings=SOON):
        until(lambda: ids(app) == failed)
        assert [lock.name for lock in app.store.locks.list()] == [PRUNING]

    assert app.store.locks.list() == []


def test_runners_that_are_named_without_pruning_prune_nothing(
    make: Make, clock: ManualClock
) -> None:
    app = make()
    run(app, clock, 3)

    Worker(app, settings=WorkerSettings(tick_runners=("jobs",))).tick()

    assert app.insight.counts() == {State.SUCCEEDED: 3}


@pytest.mark.parametrize("dialect", ["postgres"], indirect=True)
def test_a_pruner_that_hangs_does_not_keep_a_worker_from_stopping(make: Make) -> None:
    app = make()
    before = set(threading.enumerate())
    with engine_for(app.url).begin() as other:
        other.exec_driver_sql("LOCK TABLE tenure_locks IN ACCESS EXCLUSIVE MODE")
        waiting = (
            "SELECT count(*) FROM pg_locks "
            "WHERE NOT granted AND relation = 'tenure_locks'::regclass"
        )
        with Worker(app, settings=SOON):
            until(lambda: other.exec_driver_sql(waiting).scalar_one())

        assert other.exec_driver_sql(waiting).scalar_one() == 1
    until(lambda: not {one for one in threading.enumerate() if one.daemon} - before)


def test_a_chunk_shrinks_where_it_takes_long_and_grows_back() -> None:
    assert fitting(500, 0.2, 500) == 250
    assert fitting(12, 0.2, 500) == 10
    assert fitting(4, 0.2, 5) == 5
    assert fitting(250, 0.01, 400) == 400
    assert fitting(250, 0.05, 500) == 250


def test_the_time_to_keep_is_checked() -> None:
    assert Settings(keep_seconds="Forever").keep_seconds is None  # type: ignore[arg-type]
    assert Settings().keep_seconds == timedelta(days=7).total_seconds()
    assert Settings().keep_dead_letters_seconds is None
    with pytest.raises(ValidationError):
        Settings(keep_seconds=0)


def test_an_operators_move_back_saves_a_job_from_the_next_chunk(
    make: Make, clock: ManualClock
) -> None:
    app = make()
    (canceled,) = [add(app.store, NewJob(kind="unknown"))[0].id]
    app.cancel(canceled)
    clock.advance(seconds=2 * DAY)
    app.store.jobs.change(JobFilter(ids=(canceled,)), Change(move=Move.RETRY))

    assert prune(app) == 0
    assert app.get(canceled).state is State.QUEUED


def test_an_ordering_key_that_has_stopped_is_set_going_once_a_minute(
    make: Make, clock: ManualClock
) -> None:
    app = make()
    released: list[int] = []
    app.signals.subscribe(lambda _, facts: released.append(facts["keys"]), "orders.released")
    refs = [app.enqueue("well", ordering_key="k") for _ in range(2)]
    prune(app)
    stop_key(app, refs[0].id)
    assert Worker(app).run_until_idle() == 0

    prune(app)
    assert released == []
    clock.advance(seconds=61)
    prune(app)

    assert released == [1]
    assert Worker(app).run_until_idle() == 2


def test_a_pruner_that_must_end_frees_no_key_and_looks_next_time(
    make: Make, clock: ManualClock
) -> None:
    app = make()
    stop_key(app, app.enqueue("well", ordering_key="k").id)

    assert Pruner(app, "w", lambda: True).once(Budget()) == 0
    assert Worker(app).run_until_idle() == 0
    clock.advance(seconds=61)
    prune(app)
    assert Worker(app).run_until_idle() == 1


def stop_key(app: Tenure, head: str) -> None:
    """As a fault would: the head of a key waits like all the others."""
    with app.transaction() as tx:
        tx.execute("UPDATE tenure_jobs SET hold = 1 WHERE id = :id", id=int(head))
