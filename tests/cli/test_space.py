"""`tenure doctor` on space: sizes, dead rows, and who holds an old snapshot."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tenure import Tenure
from tenure.feature.finding import Level
from tenure.stores.sql.read.table_health import Snapshot
from tenure.stores.sqlite.wal import LIMIT_BYTES
from tenure.watch.doctor.space import is_old, log_length, told, volume
from tests.cli.conftest import Shop
from tests.support.databases import engine_for
from tests.support.until import until

BEGIN = {
    "postgres": "BEGIN ISOLATION LEVEL REPEATABLE READ",
    "mysql": "START TRANSACTION WITH CONSISTENT SNAPSHOT",
}
SELF = {"postgres": "SELECT pg_backend_pid()", "mysql": "SELECT CONNECTION_ID()"}
END = {"postgres": "SELECT pg_terminate_backend({})", "mysql": "KILL {}"}


def findings(shop: Shop, url: str, check: str, *options: str) -> list[dict[str, Any]]:
    said = json.loads(shop.call("doctor", "--json", "--database", url, *options).stdout)
    return [finding for finding in said["findings"] if finding["check"] == check]


def test_sizes_are_told_on_every_database(shop: Shop, database_url: str, dialect: str) -> None:
    (space,) = findings(shop, database_url, "space")

    tables = {size["table"]: size["bytes"] for size in space["figures"]["tables"]}
    assert space["level"] == "ok"
    assert tables["file" if dialect == "sqlite" else "tenure_jobs"] > 0
    assert dialect == "sqlite" or len(tables) >= 9


@pytest.mark.parametrize("dialect", ["postgres", "mysql"], indirect=True)
def test_an_old_snapshot_is_told_with_its_holder_and_the_way_to_end_it(
    shop: Shop, database_url: str, dialect: str
) -> None:
    (well,) = findings(shop, database_url, "snapshots")
    assert (well["level"], well["fact"]) == ("ok", "none older than 5m")

    engine = engine_for(database_url).execution_options(isolation_level="AUTOCOMMIT")
    with engine.connect() as holder:
        holder.exec_driver_sql(BEGIN[dialect])
        holder.exec_driver_sql("SELECT count(*) FROM tenure_jobs").fetchall()
        me = str(holder.exec_driver_sql(SELF[dialect]).scalar_one())

        found = findings(shop, database_url, "snapshots", "--snapshot-seconds", "0")
        (ours,) = [one for one in found if f" {me} (" in one["fact"]]

        assert ours["level"] == "warning"
        assert "has held a snapshot open for" in ours["fact"]
        assert ours["next"].endswith(END[dialect].format(me))
        assert me in [one["holder"] for one in ours["figures"]["snapshots"]]
        holder.exec_driver_sql("ROLLBACK")


@pytest.mark.parametrize("dialect", ["postgres"], indirect=True)
def test_dead_rows_that_a_snapshot_keeps_are_told(shop: Shop, database_url: str) -> None:
    app = Tenure(database_url)
    app.enqueue_many([app.new("x") for _ in range(12_000)])
    app.close()
    engine = engine_for(database_url).execution_options(isolation_level="AUTOCOMMIT")
    with engine.connect() as holder:
        holder.exec_driver_sql(BEGIN["postgres"])
        holder.exec_driver_sql("SELECT count(*) FROM tenure_jobs").fetchall()
        with engine.connect() as other:
            other.exec_driver_sql("DELETE FROM tenure_jobs")

        def bloated() -> Any:
            return [one for one in findings(shop, database_url, "bloat") if one["next"]]

        (bloat,) = until(bloated)
        assert bloat["level"] == "warning"
        said = re.match(r"tenure_jobs: ([\d,]+) dead rows beside [\d,]+ live", bloat["fact"])
        assert said is not None and int(said[1].replace(",", "")) >= 12_000
        assert "VACUUM (ANALYZE) tenure_jobs" in bloat["next"]
        holder.exec_driver_sql("ROLLBACK")


def test_a_long_log_is_told(shop: Shop) -> None:
    (log,) = findings(shop, shop.url, "log")

    assert log["level"] == "ok"
    assert log["figures"]["wal_bytes"] < LIMIT_BYTES
    assert log_length(10 * LIMIT_BYTES).level is Level.WARNING


@pytest.mark.parametrize(
    ("kind", "doing", "seconds", "transactions", "old"),
    [
        ("session", "", 299.0, 1, False),
        ("session", "", 300.0, None, True),
        ("prepared", "ada", 300.0, 5, True),
        ("slot", "in use", None, 10, False),
        ("slot", "in use", None, 200_000, True),
        ("slot", "not in use", None, 10, True),
        ("history", "", None, 99_000, False),
        ("history", "", None, 2_000_000, True),
    ],
)
def test_what_is_old(
    kind: str, doing: str, seconds: float | None, transactions: int | None, old: bool
) -> None:
    one = Snapshot(kind=kind, holder="7", doing=doing, seconds=seconds, transactions=transactions)

    assert is_old(one, 300.0) is old
    assert told(one)


@pytest.mark.parametrize(
    ("count", "said"),
    [(7, "7 bytes"), (1_500, "1.5 kB"), (16_800_000, "16.8 MB"), (2.5e12, "2,500.0 GB")],
)
def test_bytes_are_told_as_people_say_them(count: float, said: str) -> None:
    assert volume(count) == said
