"""From SQLite to each database: everything arrives as it was, and goes on there."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType

import pytest

from tenure import KeyConflict, State
from tenure.core.errors import DatabaseClosed, TransferDiffers
from tenure.core.rules.order import Hold
from tenure.core.timing.budget import Budget
from tenure.features.schedules import Schedules
from tenure.features.transfer import End, Transfer, open_end, reopen
from tenure.stores.sql import closed_database as closing
from tenure.stores.sql.tables import known_tables
from tenure.testing import run_until_idle
from tenure.testing.clock import ManualClock
from tests.features.transfer.conftest import MakeTransfer, OpenShop
from tests.features.transfer.shop import Shop
from tests.support.databases import ServerDatabases, migrate


def test_the_shop_has_something_of_everything(stocked: Shop, source_url: str) -> None:
    with open_end(source_url) as end:
        assert set(end.counts()) == {table.name for table in known_tables()}
    assert stocked.states() == set(State)
    holds = {job.hold for job in stocked.app.insight.stream()}
    assert holds == {0, Hold.ORDER, Hold.AFTER, Hold.LIMIT}


def test_everything_is_there_as_it_was(
    stocked: Shop, transfer: MakeTransfer, fresh_database_url: str, open_shop: OpenShop
) -> None:
    jobs, beside = stocked.jobs(), stocked.beside()

    report = transfer().run()

    moved = open_shop(fresh_database_url)
    assert moved.jobs() == jobs
    assert moved.beside() == beside
    assert report.verified and report.written == report.rows > 30


def test_the_checksums_are_those_of_both_sides(stocked: Shop, transfer: MakeTransfer) -> None:
    report = transfer().run()
    again = transfer().verify_only()

    assert [table.checksum for table in again.tables] == [one.checksum for one in report.tables]
    assert len({table.checksum for table in report.tables}) == len(report.tables)


def test_ids_go_on_behind_the_highest_that_was_ever_given_out(
    stocked: Shop, transfer: MakeTransfer, fresh_database_url: str, open_shop: OpenShop
) -> None:
    gone = max(int(job.id) for job in stocked.app.insight.stream()) + 1
    transfer().run()
    app = open_shop(fresh_database_url).app

    first, second = (app.enqueue("say", {"text": "new"}) for _ in range(2))

    assert [int(first.id), int(second.id)] == [gone + 1, gone + 2]


def test_keys_are_still_unique(
    stocked: Shop, transfer: MakeTransfer, fresh_database_url: str, open_shop: OpenShop
) -> None:
    before = {job.arguments.get("text"): job.id for job, *_ in stocked.jobs()}
    transfer().run()
    app = open_shop(fresh_database_url).app

    again = app.enqueue("say", {"text": "keyed"}, key="only", tenant="ü")
    windowed = app.enqueue("say", {"text": "once a day"}, key="day", key_window=30 * 3600.0)

    assert (again.created, again.id) == (False, before["keyed"])
    assert (windowed.created, windowed.id) == (False, before["once a day"])
    with pytest.raises(KeyConflict):
        app.enqueue("say", {"text": "other"}, key="only", tenant="ü")


def test_a_worker_of_the_target_ends_all_that_was_begun(
    stocked: Shop, transfer: MakeTransfer, fresh_database_url: str, open_shop: OpenShop
) -> None:
    transfer().run()
    moved = open_shop(fresh_database_url, ManualClock(datetime.now(UTC) + timedelta(hours=2)))

    run_until_idle(moved.app)

    said = [line[:10] for line in moved.done]
    assert State.QUEUED not in moved.states() and State.RUNNING not in moved.states()
    assert [line for line in said if line.startswith("in order")] == [
        "in order 0", "in order 1", "in order 2"
    ]  # fmt: skip
    assert said.index("first") < said.index("second")
    assert {"running", "keyed", "paid", "scarce 1"} <= set(said) and "charged" not in said
    [running] = [one for one in moved.jobs() if one[0].arguments == {"text": "running"}]
    assert (running[0].attempt, running[0].fence, running[1][0].entry) == (1, 2, "crashed")


def test_a_schedule_fires_once_on_the_target(
    stocked: Shop, transfer: MakeTransfer, fresh_database_url: str, open_shop: OpenShop
) -> None:
    due = Schedules.of(stocked.app).get("hourly").next_at
    transfer().run()
    assert due is not None
    replicas = [open_shop(fresh_database_url, ManualClock(due)) for _ in range(2)]

    for replica in replicas:
        replica.app.runners[0].run(Budget())
        run_until_idle(replica.app)

    fired = [line for one in replicas for line in one.done if line.startswith("hourly")]
    assert fired == [f"hourly {due.isoformat()}"]


def test_the_source_is_closed_to_those_who_come_and_to_those_who_are_there(
    stocked: Shop, transfer: MakeTransfer, source_url: str, open_shop: OpenShop
) -> None:
    count = len(list(stocked.app.insight.stream()))
    transfer().run()

    with pytest.raises(DatabaseClosed, match="moved to"):
        open_shop(source_url).app.enqueue("say", {"text": "lost"})
    with pytest.raises(Exception, match="moved to another database"):
        stocked.app.enqueue("say", {"text": "lost"})
    assert len(list(stocked.app.insight.stream())) == count


def test_a_closed_source_can_be_used_again(
    stocked: Shop, transfer: MakeTransfer, source_url: str, open_shop: OpenShop
) -> None:
    transfer().run()
    with open_end(source_url) as end:
        reopen(end)

    assert open_shop(source_url).app.enqueue("say", {"text": "back"}).created
    assert stocked.app.enqueue("say", {"text": "here too"}).created


def test_a_rehearsal_leaves_the_source_open(stocked: Shop, transfer: MakeTransfer) -> None:
    report = transfer(leave_open=True).run()

    assert not report.source_closed
    assert stocked.app.enqueue("say", {"text": "more"}).created


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
def test_it_goes_from_any_database_to_any(
    stocked: Shop,
    source_url: str,
    transfer: MakeTransfer,
    postgres_databases: ServerDatabases,
    mysql_databases: ServerDatabases,
    tmp_path: Path,
    open_shop: OpenShop,
) -> None:
    jobs, beside = stocked.jobs(), stocked.beside()
    back = f"sqlite:///{tmp_path / 'back.db'}"
    way = [source_url, postgres_databases.fresh(), mysql_databases.fresh(), back]

    for source, target in pairwise(way):
        report = transfer(source=source, target=target).run()
        assert report.source_closed and report.verified
        with pytest.raises(DatabaseClosed, match="moved to"):
            open_shop(source).app.enqueue("say", {"text": "lost"})

    arrived = open_shop(back)
    assert (arrived.jobs(), arrived.beside()) == (jobs, beside)


@pytest.mark.parametrize("dialect", ["postgres", "mysql"], indirect=True)
def test_a_server_that_was_moved_away_takes_no_more_jobs(
    transfer: MakeTransfer, fresh_database_url: str, tmp_path: Path, open_shop: OpenShop
) -> None:
    migrate(fresh_database_url)
    shop = open_shop(fresh_database_url)
    shop.app.enqueue("say", {"text": "moved"})
    transfer(source=fresh_database_url, target=f"sqlite:///{tmp_path / 'back.db'}").run()

    with pytest.raises(Exception, match="moved to another database"):
        shop.app.enqueue("say", {"text": "lost"})
    with open_end(fresh_database_url) as end:
        reopen(end)
    assert shop.app.enqueue("say", {"text": "back"}).created


def test_nobody_writes_to_the_source_while_it_is_moved(
    transfer: MakeTransfer, fresh_database_url: str, tmp_path: Path, open_shop: OpenShop
) -> None:
    migrate(fresh_database_url)
    open_shop(fresh_database_url).app.enqueue("say", {"text": "moved"})
    begun = transfer(source=fresh_database_url, target=f"sqlite:///{tmp_path / 'back.db'}")
    begun.watch = Writer(begun.source)

    assert begun.run().rows == 1
    assert begun.watch.refused == ["move", "verify"]


class Writer:
    """Somebody who wants to write to the source, and does not wait long."""

    HURRY = MappingProxyType(
        {
            "sqlite": "PRAGMA busy_timeout = 0",
            "postgres": "SET lock_timeout = '50ms'",
            "mysql": "SET lock_wait_timeout = 1",
        }
    )

    def __init__(self, source: End) -> None:
        self._database = source.database
        self.refused: list[str] = []

    def __call__(self, phase: str, rows: int) -> None:
        with self._database.raw_connection() as connection:
            cursor = connection.cursor()
            cursor.execute(self.HURRY[self._database.dialect.name])
            with pytest.raises(Exception, match=r"[Ll]ock"):
                cursor.execute("INSERT INTO tenure_queues (name) VALUES ('late')")
        self.refused.append(phase)


@pytest.mark.parametrize(
    ("sql", "table"),
    [
        ("UPDATE tenure_jobs SET priority = priority + 1 WHERE id = 3", "tenure_jobs"),
        ("UPDATE tenure_payloads SET payload = concat(payload, ' ')", "tenure_payloads"),
        ("DELETE FROM tenure_attempts WHERE fence = 1", "tenure_attempts"),
        ("INSERT INTO tenure_queues (name) VALUES ('new')", "tenure_queues"),
    ],
)
@pytest.mark.parametrize("dialect", ["postgres", "mysql"], indirect=True)
def test_a_row_that_was_tampered_with_is_found_and_then_replaced(
    stocked: Shop, transfer: MakeTransfer, sql: str, table: str
) -> None:
    begun = transfer()
    begun.watch = Tamperer(begun, sql)

    with pytest.raises(TransferDiffers, match=f"{table} is not the same on both sides"):
        begun.run()
    with pytest.raises(DatabaseClosed, match="run the same tenure move again"):
        closing.check_open(begun.target.database, begun.target.connection)

    report = transfer().run()
    touched = [one.table for one in report.tables if one.replaced or one.removed or one.added]
    assert report.resumed and report.verified and touched == [table]


class Tamperer:
    """Somebody who changes the target when all has been written."""

    def __init__(self, transfer: Transfer, sql: str) -> None:
        self._target, self._sql = transfer.target, sql
        self._left = sum(transfer.source.counts().values())

    def __call__(self, phase: str, rows: int) -> None:
        if phase != "move":
            return
        self._left -= rows
        if self._left == 0:
            with self._target.database.raw_connection() as connection:
                connection.cursor().execute(self._sql)
