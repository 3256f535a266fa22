"""`job.settle()`: rows, follow-up jobs and the end in one fenced transaction. On every database."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tenure import (
    Delays,
    Fail,
    JobFilter,
    LeaseLost,
    OptionError,
    Retry,
    RunningJob,
    Settings,
    State,
    Tenure,
)
from tenure.core.errors import SettledTwice, StatementCommits
from tenure.stores import open_store
from tenure.stores.contract import ClaimRequest
from tenure.stores.sql.store import sql_store
from tenure.testing import run_until_idle
from tests.support.databases import engine_for

BY_NAME = "INSERT INTO shop_orders (note) VALUES (:note)"


@pytest.fixture
def app(database_url: str) -> Iterator[Tenure]:
    made = Tenure(database_url, settings=Settings(lease_seconds=30))
    with sql_store(open_store(database_url)).database.raw_connection() as connection:
        connection.cursor().execute("DROP TABLE IF EXISTS shop_orders")
        connection.cursor().execute("CREATE TABLE shop_orders (note VARCHAR(50))")
    yield made
    made.close()


def notes(app: Tenure) -> list[str]:
    with app.transaction() as tx:
        return [row[0] for row in tx.execute("SELECT note FROM shop_orders").fetchall()]


def states(app: Tenure, kind: str) -> list[State]:
    return [job.state for job in app.insight.stream(JobFilter(kinds=(kind,)))]


def insert(app: Tenure) -> str:
    mark = "?" if app.url.startswith("sqlite") else "%s"
    return "INSERT INTO shop_orders (note) VALUES (?)".replace("?", mark)


def test_rows_follow_ups_and_the_end_commit_together(app: Tenure) -> None:
    @app.job("order")
    def order(job: RunningJob) -> str:
        with job.settle(result={"paid": True}) as tx:
            tx.execute(insert(app), ("paid",))
            tx.enqueue("receipt", {"order": 1})
        return "ignored after settle"

    ref = order.enqueue()
    run_until_idle(app)

    assert notes(app) == ["paid"]
    assert app.get(ref).result == {"paid": True}
    assert states(app, "receipt") == [State.QUEUED]


def test_the_async_form_does_the_same(app: Tenure) -> None:
    @app.job("order")
    async def order(job: RunningJob) -> None:
        async with job.settle() as tx:
            await tx.execute(insert(app), ("paid",))
            await tx.enqueue("receipt", {"order": 1})
            assert await tx.execute("SELECT note FROM shop_orders") == [("paid",)]

    ref = order.enqueue()
    run_until_idle(app)

    assert notes(app) == ["paid"]
    assert app.get(ref).state is State.SUCCEEDED
    assert states(app, "receipt") == [State.QUEUED]


def test_an_exception_inside_rolls_everything_back_and_is_an_ordinary_outcome(
    app: Tenure,
) -> None:
    @app.job("order", retry=Delays())
    def order(job: RunningJob) -> None:
        with job.settle() as tx:
            tx.execute(insert(app), ("never",))
            tx.enqueue("receipt")
            raise ValueError("the card was refused")

    ref = order.enqueue()
    run_until_idle(app)

    job = app.get(ref)
    assert notes(app) == []
    assert states(app, "receipt") == []
    assert (job.state, job.reason) == (State.DEAD, "exhausted")
    assert (app.insight.history(job)[0].failure or {})["message"] == "the card was refused"


@pytest.mark.parametrize(
    ("outcome", "state"),
    [(Fail("no stock"), State.FAILED), (Retry("later", delay=60), State.QUEUED)],
)
def test_other_endings_commit_with_the_rows(app: Tenure, outcome: Any, state: State) -> None:
    @app.job("order")
    def order(job: RunningJob) -> None:
        with job.settle(outcome) as tx:
            tx.execute(insert(app), ("noted",))

    ref = order.enqueue()
    run_until_idle(app)

    assert notes(app) == ["noted"]
    assert app.get(ref).state is state


def claim_by(app: Tenure, kind: str) -> RunningJob:
    claim = app.store.jobs.claim(
        ClaimRequest(owner="me", kinds=[kind], slots={"default": 1}, lease_seconds=30)
    )
    return RunningJob(app, claim.jobs[0])


def test_when_the_lease_is_lost_everything_rolls_back(app: Tenure) -> None:
    app.job("order")(lambda job: None)
    ref = app.enqueue("order")
    job = claim_by(app, "order")
    app.cancel(ref)
    app.store.jobs.extend([job.claimed.lease], 30)
    with app.transaction() as tx:  # another holder: the fence moved on
        tx.execute("UPDATE tenure_jobs SET fence = fence + 1")

    with pytest.raises(LeaseLost), job.settle() as tx:
        tx.execute(insert(app), ("stale",))
        tx.enqueue("receipt")

    assert notes(app) == []
    assert states(app, "receipt") == []
    assert app.get(ref).state is State.RUNNING


def test_a_second_settle_is_an_error(app: Tenure) -> None:
    app.job("order")(lambda job: None)
    app.enqueue("order")
    job = claim_by(app, "order")
    with job.settle():
        pass

    with pytest.raises(SettledTwice), job.settle():
        pass


def test_news_of_the_run_is_kept_with_the_settlement(app: Tenure) -> None:
    @app.job("order")
    def order(job: RunningJob) -> None:
        job.progress(0.9, "nearly")
        job.log("packed")
        with job.settle():
            pass

    ref = order.enqueue()
    run_until_idle(app)

    job = app.get(ref)
    assert (job.progress, job.progress_note) == (0.9, "nearly")
    assert [line.message for line in app.insight.logs(ref.id)] == ["packed"]


def test_app_transaction_commits_both_or_neither(app: Tenure) -> None:
    with app.transaction() as tx:
        tx.execute(insert(app), ("kept",))
        tx.enqueue("mail")
    with pytest.raises(RuntimeError), app.transaction() as tx:
        tx.execute(insert(app), ("gone",))
        tx.enqueue("mail")
        raise RuntimeError

    assert notes(app) == ["kept"]
    assert states(app, "mail") == [State.QUEUED]


def test_values_by_name_are_written_alike_for_every_database(app: Tenure) -> None:
    @app.job("order")
    async def order(job: RunningJob) -> None:
        async with job.settle() as tx:
            await tx.execute(BY_NAME, note="100 % later")
            assert await tx.execute("SELECT note FROM shop_orders WHERE note = :x", x="no") == []

    with app.transaction() as tx:
        tx.execute(BY_NAME, note="now")
        with pytest.raises(OptionError, match="not both"):
            tx.execute(BY_NAME, ("now",), note="now")
    order.enqueue()
    run_until_idle(app)

    assert notes(app) == ["now", "100 % later"]


def test_tables_are_made_in_a_transaction_of_their_own(app: Tenure) -> None:
    with app.transaction() as tx:
        for table in ("shop_items", "shop_customers"):
            tx.execute(f"DROP TABLE IF EXISTS {table}")
            tx.execute(f"CREATE TABLE {table} (note VARCHAR(50))")
        tx.execute("INSERT INTO shop_items (note) VALUES (:note)", note="mug")
        tx.enqueue("mail")

    assert states(app, "mail") == [State.QUEUED]


@pytest.mark.parametrize("dialect", ["mysql"], indirect=True)
def test_a_table_that_would_commit_other_statements_is_refused(app: Tenure) -> None:
    with pytest.raises(StatementCommits, match="of their own"), app.transaction() as tx:
        tx.enqueue("mail")
        tx.execute("CREATE TABLE IF NOT EXISTS shop_items (note VARCHAR(50))")


@pytest.mark.parametrize("dialect", ["postgres"], indirect=True)
def test_settle_joins_the_users_own_psycopg_transaction(app: Tenure) -> None:
    import psycopg

    @app.job("order", retry=Delays(0))
    async def order(job: RunningJob, commit: bool) -> None:
        async with await psycopg.AsyncConnection.connect(app.url) as connection:
            await connection.execute(insert(app), ("joined",))
            async with job.settle(tx=connection) as tx:
                await tx.enqueue("receipt")
            if not commit:
                await connection.rollback()

    kept, undone = order.enqueue(commit=True), order.enqueue(commit=False)
    run_until_idle(app)

    assert notes(app) == ["joined"]
    assert app.get(kept).state is State.SUCCEEDED
    assert app.get(undone).state is State.DEAD
    assert states(app, "receipt") == [State.QUEUED]


def test_a_plain_handler_joins_its_own_connection(app: Tenure) -> None:
    @app.job("order", retry=Delays())
    def order(job: RunningJob, commit: bool) -> None:
        with app.store.transaction() as own:
            with job.settle(tx=own) as tx:
                tx.execute(insert(app), ("joined",))
            if not commit:
                raise ValueError("changed my mind")

    kept, undone = order.enqueue(commit=True), order.enqueue(commit=False)
    run_until_idle(app, concurrency=1)

    assert notes(app) == ["joined"]
    assert app.get(kept).state is State.SUCCEEDED
    assert app.get(undone).state is State.DEAD


def test_an_async_block_leaves_the_loop_free(app: Tenure) -> None:
    beats: list[int] = []

    @app.job("order")
    async def order(job: RunningJob) -> None:
        async def beat() -> None:
            for n in range(5):
                beats.append(n)
                await asyncio.sleep(0)

        other = asyncio.ensure_future(beat())
        async with job.settle() as tx:
            await tx.execute(insert(app), ("paid",))
        await other

    order.enqueue()
    run_until_idle(app)

    assert beats == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("dialect", ["postgres", "mysql"], indirect=True)
def test_the_next_of_a_key_runs_though_the_callers_transaction_sees_the_past(app: Tenure) -> None:
    """MySQL lets it go at once; PostgreSQL refuses what it cannot see, and the job runs again."""
    behind: list[str] = []

    @app.job("order", retry=Delays(0.0, 0.0))
    def order(job: RunningJob, number: int) -> None:
        engine = engine_for(app.url).execution_options(isolation_level="REPEATABLE READ")
        with engine.connect() as mine:
            mine.exec_driver_sql("SELECT count(*) FROM shop_orders").all()
            if number == 1 and not behind:
                behind.append(
                    in_a_thread(lambda: app.enqueue("order", {"number": 2}, ordering_key="k").id)
                )
            with job.settle(tx=mine):
                mine.exec_driver_sql(insert(app), (str(number),))
            mine.commit()

    first = app.enqueue("order", {"number": 1}, ordering_key="k")
    run_until_idle(app)

    assert app.get(first).state is State.SUCCEEDED
    assert app.get(behind[0]).state is State.SUCCEEDED
    assert notes(app) == ["1", "2"]


def in_a_thread(action: Callable[[], str]) -> str:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(action).result(20)
