"""What a worker does with an ending that the database does not take: keeps it, and tries again."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

from tenure import NO_RETRY, RunningJob, Settings, State, Tenure, Worker
from tenure.stores.sql.store import SqlStore
from tests.stores.test_foreign_transaction import connected
from tests.stores.test_trouble import MYSQL, POSTGRES, SQLITE, server_setting, strict_url
from tests.support.until import until

__all__ = ["strict_url"]
BIG = "x" * 500_000


class Gated:
    """A handler that returns a result when it is told to."""

    def __init__(self, app: Tenure) -> None:
        self.begun, self.go, self.runs = threading.Event(), threading.Event(), list[int]()
        self.troubles = list[str]()
        app.job("work", retry=NO_RETRY)(self.run)
        app.signals.subscribe(self.note, "store.unavailable", "settle.failed", "worker.error")

    def run(self, job: RunningJob) -> str:
        self.runs.append(job.attempt)
        self.begun.set()
        self.go.wait(60)
        return BIG

    def note(self, name: str, facts: Any) -> None:
        self.troubles.append(str(facts["error"]))

    def told_of(self, text: str, times: int) -> None:
        until(lambda: sum(text in trouble for trouble in self.troubles) >= times)


@contextmanager
def opened(url: str) -> Iterator[Tenure]:
    app = Tenure(url, settings=Settings(lease_seconds=60))
    yield app
    app.close()


def test_one_row_that_is_refused_keeps_no_other_from_ending(strict_url: str) -> None:
    with opened(strict_url) as app:

        @app.job("work", retry=NO_RETRY)
        def work(job: RunningJob, say: str) -> str:
            return say

        words = ["good"] * 20 + ["bad"] + ["good"] * 20
        refs = [work.enqueue(say=say) for say in words]
        with Worker(app, concurrency=50):
            jobs = [app.wait(ref, 20) for ref in refs]

        assert [job.state is State.SUCCEEDED for job in jobs] == [say == "good" for say in words]
        bad = jobs[20]
        assert (bad.state, bad.reason, bad.attempt) == (State.FAILED, "settle_failed", 1)
        assert app.insight.history(bad)[-1].entry == "unsettled"


@POSTGRES
def test_a_success_outlasts_statement_timeouts(database_url: str) -> None:
    url = f"{database_url}?options=-c%20statement_timeout%3D50%20-c%20lock_timeout%3D0"
    with opened(url) as app, connected(database_url) as other:
        gated = Gated(app)
        job = app.enqueue("work")
        with Worker(app):
            assert gated.begun.wait(20)
            other.execute("LOCK TABLE tenure_jobs IN EXCLUSIVE MODE")
            gated.go.set()
            gated.told_of("statement timeout", times=3)
            other.rollback()

            assert app.wait(job, 30).result == BIG
        assert (gated.runs, app.get(job).attempt) == ([1], 1)


@MYSQL
def test_a_success_outlasts_max_statement_time(database_url: str) -> None:
    with (
        server_setting(database_url, "max_statement_time", "0.2", "0"),
        connected(database_url) as other,
        opened(database_url) as app,
    ):
        gated = Gated(app)
        job = app.enqueue("work")
        with Worker(app):
            assert gated.begun.wait(20)
            other.cursor().execute("LOCK TABLES tenure_jobs WRITE")
            gated.go.set()
            gated.told_of("max_statement_time", times=3)
            other.cursor().execute("UNLOCK TABLES")

            assert app.wait(job, 30).result == BIG
        assert (gated.runs, app.get(job).attempt) == ([1], 1)


@SQLITE
def test_a_success_outlasts_a_full_disk(database_url: str) -> None:
    with opened(database_url) as app:
        gated, full = Gated(app), threading.Event()
        dialect: Any = cast(SqlStore, app.store).database.dialect
        begin = dialect.begin

        def begin_on_a_full_disk(connection: Any, **options: Any) -> None:
            pages = 1 if full.is_set() else 2**30  # no fewer than there are now
            connection.execute(f"PRAGMA max_page_count = {pages}")
            begin(connection, **options)

        dialect.begin = begin_on_a_full_disk
        job = app.enqueue("work")
        with Worker(app):
            assert gated.begun.wait(20)
            full.set()
            gated.go.set()
            gated.told_of("disk is full", times=3)
            full.clear()

            assert app.wait(job, 30).result == BIG
        assert (gated.runs, app.get(job).attempt) == ([1], 1)
