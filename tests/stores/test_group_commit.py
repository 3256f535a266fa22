"""Single jobs of many callers are written together; each caller gets its own answer."""

from __future__ import annotations

import asyncio
import ctypes
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest

from tenure import JobFilter, Settings, State, StoreUnavailable, Tenure
from tenure.core.errors import CommitUnknown
from tenure.stores.sql.store import SqlStore
from tests.support.servers import server_folder, start_postgres
from tests.support.until import until

THREADS, EACH = 16, 200


@pytest.fixture
def app(database_url: str) -> Iterator[Tenure]:
    made = Tenure(database_url, settings=Settings(lease_seconds=30))
    yield made
    made.close()


def store_of(app: Tenure) -> SqlStore:
    assert isinstance(app.store, SqlStore)
    return app.store


def waiting(app: Tenure) -> int:
    """How many callers wait for somebody to write."""
    return len(store_of(app).jobs._group_commit._waiting)


@contextmanager
def counted(app: Tenure) -> Iterator[list[str]]:
    """The names of the statements that go to the database."""
    dialect: Any = store_of(app).database.dialect
    real, seen = dialect.execute, list[str]()

    def execute(connection: Any, queries: Any, statement: Any) -> Any:
        seen.append(statement.name)
        return real(connection, queries, statement)

    dialect.execute = execute
    yield seen
    del dialect.execute


@contextmanager
def nobody_can_write(app: Tenure) -> Iterator[None]:
    """The table is locked; whoever writes waits until the end of the block."""
    with store_of(app).database.raw_connection() as connection:
        cursor = connection.cursor()
        match app.url.partition(":")[0]:
            case "sqlite":
                begin, end = ["BEGIN IMMEDIATE"], "ROLLBACK"
            case "postgresql":
                begin, end = ["BEGIN", "LOCK TABLE tenure_jobs IN EXCLUSIVE MODE"], "ROLLBACK"
            case _:
                begin, end = ["LOCK TABLES tenure_jobs WRITE"], "UNLOCK TABLES"
        for statement in begin:
            cursor.execute(statement)
        try:
            yield
        finally:
            cursor.execute(end)


def crowd(app: Tenure, pool: ThreadPoolExecutor, kinds: list[str]) -> list[Future[Any]]:
    """Two callers that write, as many as may at once; behind them, in order, one for each kind."""
    writers = store_of(app).jobs._group_commit._writers
    first = [pool.submit(app.enqueue, "first") for _ in range(writers)]
    until(lambda: store_of(app).jobs._group_commit._free == 0)
    for number, kind in enumerate(kinds):
        first.append(pool.submit(app.enqueue, kind))
        until(lambda wanted=number + 1: waiting(app) == wanted)  # type: ignore[misc]
    return first


def test_many_callers_need_few_statements_and_lose_nothing(app: Tenure) -> None:
    app.enqueue("warm")
    with counted(app) as seen, ThreadPoolExecutor(THREADS) as pool:
        start = threading.Barrier(THREADS)

        def add_some() -> list[str]:
            start.wait()
            return [app.enqueue("work").id for _ in range(EACH)]

        found = [one.result() for one in [pool.submit(add_some) for _ in range(THREADS)]]

    ids = [job for some in found for job in some]
    stored = {job.id for job in app.insight.stream(JobFilter(kinds=("work",)))}
    assert len(set(ids)) == THREADS * EACH
    assert stored == set(ids)
    assert len(seen) < THREADS * EACH / 2
    assert all(some == sorted(some, key=int) for some in found)


def test_coroutines_share_statements_too(app: Tenure) -> None:
    async def all_at_once() -> list[str]:
        return [ref.id for ref in await asyncio.gather(*map(app.enqueue_async, ["work"] * 300))]

    app.enqueue("warm")
    with counted(app) as seen:
        ids = asyncio.run(all_at_once())

    assert len(set(ids)) == 300
    assert app.insight.counts(JobFilter(kinds=("work",))) == {State.QUEUED: 300}
    assert len(seen) < 30


def test_threads_and_coroutines_wait_in_one_line(app: Tenure) -> None:
    async def some() -> list[Any]:
        return await asyncio.gather(*(app.enqueue_async("work") for _ in range(20)))

    app.enqueue("warm")
    with ThreadPoolExecutor(8) as pool:
        with nobody_can_write(app):
            threads = crowd(app, pool, ["work"] * 2)
            coroutines = pool.submit(asyncio.run, some())
            until(lambda: waiting(app) == 22)
        ids = {one.result(30).id for one in threads} | {ref.id for ref in coroutines.result(30)}

    assert len(ids) == len(threads) + 20


def refuse(app: Tenure, kind: str) -> Callable[[], None]:
    """The database itself refuses rows of this kind; answers how to stop that."""
    body = {
        "sqlite": f"BEFORE INSERT ON tenure_jobs WHEN NEW.kind = '{kind}' "
        "BEGIN SELECT RAISE(ABORT, 'refused'); END",
        "mysql": f"BEFORE INSERT ON tenure_jobs FOR EACH ROW IF NEW.kind = '{kind}' THEN "
        "SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'refused'; END IF",
    }
    made = "ALTER TABLE tenure_jobs ADD CONSTRAINT refused CHECK (kind <> 'bad')"
    gone = "ALTER TABLE tenure_jobs DROP CONSTRAINT refused"
    if (sort := app.url.partition(":")[0]) in body:
        made, gone = f"CREATE TRIGGER refused {body[sort]}", "DROP TRIGGER refused"

    def run(statement: str) -> None:
        with store_of(app).database.raw_connection() as connection:
            connection.cursor().execute(statement)

    run(made)
    return lambda: run(gone)


def test_one_callers_bad_row_is_its_own_error(app: Tenure) -> None:
    app.enqueue("warm")
    allow = refuse(app, "bad")
    try:
        with ThreadPoolExecutor(8) as pool:
            with nobody_can_write(app):
                calls = crowd(app, pool, ["good", "bad", "good", "bad", "good"])
            until(lambda: all(call.done() for call in calls))
    finally:
        allow()

    errors = [call.exception() for call in calls[-5:]]
    assert [error is None for error in errors] == [True, False, True, False, True]
    assert "refused" in str(errors[1])
    assert errors[1] is not errors[3]
    assert app.insight.counts(JobFilter(kinds=("good",))) == {State.QUEUED: 3}
    assert app.insight.counts(JobFilter(kinds=("bad",))) == {}


def test_a_stopped_writer_strands_nobody(app: Tenure) -> None:
    """Those it wrote for are told that nobody knows; those behind them go on."""
    app.enqueue("warm")
    gather = store_of(app).jobs._group_commit
    real, stopped = gather._write, threading.Event()

    def write(jobs: Any) -> Any:
        if len(jobs) > 1 and not stopped.is_set():
            stopped.set()
            stop(threading.get_ident())
        return real(jobs)

    gather._write = write
    with ThreadPoolExecutor(8) as pool:
        with nobody_can_write(app):
            calls = crowd(app, pool, ["work"] * 4)
        until(lambda: all(call.done() for call in calls))
        errors = [call.exception() for call in calls]
        # Who leads, and how many are in its batch, is a matter of chance.
        assert sum(isinstance(error, KeyboardInterrupt) for error in errors) == 1
        assert any(isinstance(error, CommitUnknown) for error in errors)
        others = [one for one in errors if not isinstance(one, KeyboardInterrupt | CommitUnknown)]
        assert all(error is None for error in others)
        assert gather._free == gather._writers
        assert pool.submit(app.enqueue, "after").result(30).created


@pytest.mark.parametrize("dialect", ["postgres"], indirect=True)
def test_ctrl_c_in_the_main_thread_is_nobody_elses_concern(app: Tenure) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background ignores it
    app.enqueue("warm")
    with ThreadPoolExecutor(8) as pool:
        with nobody_can_write(app):
            calls = crowd(app, pool, ["work"] * 2)
            pool.submit(interrupt_when_stuck, app, len(calls) - 2 + 1)
            with pytest.raises(KeyboardInterrupt):
                app.enqueue("mine")
        assert all(call.result(30).created for call in calls)
    assert app.insight.counts(JobFilter(kinds=("mine",))) == {}


def interrupt_when_stuck(app: Tenure, writers: int) -> None:
    """Ctrl-C for the main thread once so many statements wait for the lock."""
    asked = "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'tenure_jobs'::regclass"
    with store_of(app).database.raw_connection() as connection:
        until(lambda: connection.execute(asked).fetchone()[0] >= writers)
    os.kill(os.getpid(), signal.SIGINT)


def test_a_caller_that_is_stopped_before_its_turn_hands_it_on(app: Tenure) -> None:
    app.enqueue("warm")
    gather, idents = store_of(app).jobs._group_commit, list[int]()

    def stoppable() -> Any:
        idents.append(threading.get_ident())
        return app.enqueue("stopped")

    with ThreadPoolExecutor(8) as pool:
        with nobody_can_write(app):
            calls = crowd(app, pool, [])
            calls.append(pool.submit(stoppable))
            until(lambda: waiting(app) == 1)
            calls += [pool.submit(app.enqueue, "work") for _ in range(3)]
            until(lambda: waiting(app) == 4)
            stop(idents[0])
        until(lambda: all(call.done() for call in calls))
        stopped, others = calls[-4], calls[-3:]

        assert isinstance(stopped.exception(), KeyboardInterrupt)
        assert all(call.result().created for call in others)
        assert gather._free == gather._writers
    assert app.insight.counts(JobFilter(kinds=("stopped",))) == {}


def stop(thread: int) -> None:
    """Raise KeyboardInterrupt there, as soon as it runs Python again."""
    interrupt = ctypes.py_object(KeyboardInterrupt)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), interrupt)


def test_a_forked_child_begins_with_an_empty_line(app: Tenure) -> None:
    app.enqueue("warm")
    with ThreadPoolExecutor(8) as pool:
        with nobody_can_write(app):
            calls = crowd(app, pool, ["work"] * 2)
            gather = store_of(app).jobs._group_commit
            child = os.fork()
            if child == 0:
                os._exit(0 if (gather._free, gather._waiting) == (gather._writers, []) else 1)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert all(call.result(30).created for call in calls)


@pytest.mark.crash
def test_when_the_server_dies_exactly_those_in_the_statement_hear_of_it() -> None:
    with server_folder() as folder, ThreadPoolExecutor(8) as pool:
        server = start_postgres(folder)
        try:
            app = Tenure(server.create_database(), settings=Settings(auto_migrate=True))
            app.enqueue("warm")
            with nobody_can_write_until_it_dies(app):
                calls = crowd(app, pool, ["work"] * 3)
                server.restart(immediate=True)
            until(lambda: all(call.done() for call in calls))
            failed = [call for call in calls if call.exception() is not None]
            assert all(isinstance(call.exception(), StoreUnavailable) for call in failed)
            assert len(failed) >= 2  # the two that were writing
            added = {call.result().id for call in calls if call not in failed}
            assert {job.id for job in app.insight.stream(JobFilter(kinds=("work",)))} == added
            assert pool.submit(app.enqueue, "after").result(30).created
            app.close()
        finally:
            server.stop()


@contextmanager
def nobody_can_write_until_it_dies(app: Tenure) -> Iterator[None]:
    """A lock that goes with the server."""
    database = store_of(app).database
    connection = database.dialect.connect()
    connection.execute("BEGIN")
    connection.execute("LOCK TABLE tenure_jobs IN EXCLUSIVE MODE")
    try:
        yield
    finally:
        database.dialect.close(connection)
