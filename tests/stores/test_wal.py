"""SQLite's write-ahead log stays short, whoever writes: a worker, an enqueuer, two processes."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tenure import RunningJob, State, Tenure, Worker
from tenure.stores.sqlite.dialect import BUSY_SECONDS
from tenure.stores.sqlite.wal import LIMIT_BYTES, Log
from tests.support.until import until

PAYLOAD = {"text": "x" * 500_000}
ENOUGH = 3 * LIMIT_BYTES // 500_000
SLACK = 2 * 1024 * 1024

ENQUEUER = """
import sys
from tenure import Tenure

app = Tenure(sys.argv[1])
longest = 0
for number in range(int(sys.argv[2])):
    app.enqueue("x", {"text": "x" * 500_000})
    longest = max(longest, app.store.database.dialect.log.bytes)
print(longest)
app.close()
"""


@pytest.fixture
def app(tmp_path: Path) -> Iterator[Tenure]:
    made = Tenure(f"sqlite:///{tmp_path / 'jobs.db'}")
    yield made
    made.close()


@pytest.fixture
def log(tmp_path: Path) -> Log:
    return Log(str(tmp_path / "jobs.db"))


def fill(app: Tenure, log: Log) -> int:
    """Three times the limit, in one commit each; how long the log got."""
    longest = 0
    for _ in range(ENOUGH):
        app.enqueue("x", PAYLOAD)
        longest = max(longest, log.bytes)
    return longest


def whole(path: Path) -> bool:
    with closing(sqlite3.connect(path)) as connection:
        return bool(connection.execute("PRAGMA integrity_check").fetchone() == ("ok",))


def test_our_connections_leave_checkpoints_to_whoever_passes_the_limit(app: Tenure) -> None:
    with app.transaction() as tx:
        assert tx.execute("PRAGMA wal_autocheckpoint").fetchone() == (0,)
        assert tx.execute("PRAGMA journal_size_limit").fetchone() == (LIMIT_BYTES,)


def test_a_process_that_only_enqueues_keeps_the_log_short(app: Tenure, log: Log) -> None:
    assert LIMIT_BYTES < fill(app, log) < LIMIT_BYTES + SLACK
    assert log.bytes < LIMIT_BYTES + SLACK


def test_a_worker_keeps_the_log_short(app: Tenure, log: Log) -> None:
    @app.job("x")
    async def echo(job: RunningJob, text: str) -> str:
        return text

    app.enqueue_many([echo.new(**PAYLOAD) for _ in range(ENOUGH)])
    assert log.bytes > LIMIT_BYTES

    assert Worker(app, concurrency=2).run_until_idle() == ENOUGH
    assert log.bytes < LIMIT_BYTES + 2 * SLACK
    assert app.insight.counts() == {State.SUCCEEDED: ENOUGH}


def test_two_processes_keep_the_log_short(app: Tenure, tmp_path: Path) -> None:
    app.store.now()
    command = [sys.executable, "-c", ENQUEUER, app.url, str(ENOUGH)]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    longest = [int(process.communicate(timeout=60)[0]) for process in both]

    assert max(longest) < LIMIT_BYTES + 2 * SLACK
    assert app.insight.counts() == {State.QUEUED: 2 * ENOUGH}
    assert whole(tmp_path / "jobs.db")


def test_a_reader_of_an_old_snapshot_keeps_the_log_until_it_leaves(
    app: Tenure, log: Log, tmp_path: Path
) -> None:
    app.store.now()
    with closing(sqlite3.connect(tmp_path / "jobs.db", isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM tenure_jobs").fetchone()
        assert fill(app, log) > 2 * LIMIT_BYTES

    def short() -> bool:
        app.enqueue("x")
        return log.bytes <= LIMIT_BYTES

    until(short)


def test_nobody_waits_for_another_writer_to_relieve_the_log(
    app: Tenure, log: Log, tmp_path: Path
) -> None:
    app.enqueue_many([app.new("x", PAYLOAD) for _ in range(ENOUGH)])
    connect = sqlite3.connect
    path = tmp_path / "jobs.db"
    with (
        closing(connect(path, isolation_level=None)) as writer,
        closing(connect(path, isolation_level=None)) as ours,
    ):
        writer.execute("BEGIN IMMEDIATE")
        log.relieve(ours, BUSY_SECONDS)

        assert not ours.in_transaction
        assert ours.execute("PRAGMA busy_timeout").fetchone() == (BUSY_SECONDS * 1000,)
        writer.execute("ROLLBACK")
