"""Q9 on MariaDB: what a claim of 200 reads, for each form of the column that leads its index.

First with 100,000 finished rows, then after 20,000 settled rows that a snapshot keeps from purge.
"""
# Fixed texts of a measurement, no input of anybody:
# ruff: noqa: S608

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from bench.decisions.engines.candidate import BATCH, Variant, now_us
from bench.decisions.engines.mariadb import MariaDb
from bench.meters import table, timed

FORMS: list[Literal["stored", "kept", "virtual", "state"]] = ["stored", "kept", "virtual", "state"]
HEAD = ["variant", "case", "ms", "rows read", "key", "rows estimated"]


def q9(url: str, reps: int) -> None:
    rows: list[list[object]] = []
    for due in FORMS:
        engine = MariaDb(url, Variant(due, due=due))
        fill_finished(engine)
        fill(engine, 4000, 200_000)
        engine.ready()
        rows.append([due, "100,000 finished, no floor", *reads(engine, 0, reps)])
        with pinned(url):
            settle_20_000(engine)
            fill(engine, 4000, 400_000)
            case = "and 20,000 settled under a snapshot, no floor"
            rows.append([due, case, *reads(engine, 0, reps)])
            rows.append([due, "the same, floor", *reads(engine, 400_000, reps)])
        engine.close()
    table("Q9 MariaDB, SELECT ... FOR UPDATE of 200 (rolled back)", HEAD, rows)


def fill(engine: MariaDb, count: int, at: int) -> None:
    engine.add_jobs([(None, "acme", at + place, "x" * 100, None) for place in range(count)])
    engine.db.commit()


def fill_finished(engine: MariaDb) -> None:
    engine.create()
    fill(engine, 100_000, 0)
    not_due = ", due_queue = NULL" if engine.variant.due == "kept" else ""
    engine.cursor.execute(f"UPDATE tenure_jobs SET state = 2{not_due}")
    engine.db.commit()
    engine.cursor.execute("ALTER TABLE tenure_jobs FORCE")


def settle_20_000(engine: MariaDb) -> None:
    fill(engine, 20_000, 300_000)
    for _ in range(20_000 // BATCH):
        engine.floor = (0, 0)
        engine.cycle(engine.cycle([]))


@contextmanager
def pinned(url: str) -> Iterator[None]:
    """Another connection with an open read view: purge keeps every delete-marked entry."""
    other = MariaDb(url, Variant("pin"))
    other.cursor.execute("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ")
    other.db.commit()
    other.cursor.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT")
    yield
    other.close()


def reads(engine: MariaDb, floor: int, reps: int) -> tuple[float, int, str, int]:
    """Median ms of the locking read, handler reads of one, its index and the estimate."""
    values = (floor, now_us())
    engine.cursor.execute("FLUSH STATUS")
    engine.cursor.execute(engine.take, values)
    engine.cursor.fetchall()
    engine.cursor.execute("SHOW SESSION STATUS LIKE 'Handler_read%'")
    count = sum(int(row[1]) for row in engine.cursor.fetchall())
    plan = engine.one("EXPLAIN " + engine.take, values)
    engine.db.rollback()
    return timed(reps, read_and_forget, engine, values), count, plan[5], plan[8]


def read_and_forget(engine: MariaDb, values: tuple[int, int]) -> None:
    engine.cursor.execute(engine.take, values)
    engine.cursor.fetchall()
    engine.db.rollback()
