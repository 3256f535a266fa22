"""Q4 on MariaDB: one statement for each lane, or the loose index scan it has of its own."""

from __future__ import annotations

from typing import Any

from bench.decisions.engines.candidate import BATCH, Claimed, Variant, now_us
from bench.decisions.engines.mariadb import MariaDb
from bench.meters import table, timed

# MariaDB makes no range of a row comparison, and sorts a file when ORDER BY names the columns
# that WHERE holds equal.
STEP = """SELECT priority, tenant, run_at FROM tenure_jobs
    WHERE due_queue = 'default' AND priority = %s AND tenant > %s
    ORDER BY tenant, run_at, id LIMIT 1"""
GROUP = """SELECT due_queue, priority, tenant, MIN(run_at) FROM tenure_jobs
    WHERE due_queue = 'default' GROUP BY due_queue, priority, tenant LIMIT %s"""


def q4_mariadb(url: str, reps: int) -> None:
    looks, claims = [], []
    for lanes in (1, 10, 100, 1000):
        engine = filled(url, lanes)
        times = [
            timed(reps, look, engine, limit)
            for look in (look_by_steps, look_by_group)
            for limit in (100000, 64)
        ]
        looks.append([lanes, *times])
        if lanes in (1, 100):
            count = min(lanes, 50)
            form = f"{count} lanes x {BATCH // count}"
            claims.append([form, timed(reps, claim, engine, count)])
        engine.close()
    table(
        "Q4 look for lanes, MariaDB",
        ["lanes", "one statement a lane ms", "64 lanes ms", "GROUP BY ms", "GROUP BY, 64 lanes ms"],
        looks,
    )
    table(
        "Q4 claim of 200, MariaDB (one SELECT a lane, one UPDATE, one durable transaction)",
        ["form", "ms"],
        claims,
    )


def filled(url: str, lanes: int) -> MariaDb:
    engine = MariaDb(url, Variant("candidate"))
    engine.create()
    engine.add_jobs(
        [(None, f"t{number % lanes:06d}", number, "x" * 100, None) for number in range(20000)]
    )
    engine.db.commit()
    engine.ready()
    return engine


def look_by_steps(engine: MariaDb, limit: int) -> int:
    at: tuple[Any, ...] = (0, "")
    count = 0
    while count < limit and engine.cursor.execute(STEP, at):
        row = engine.cursor.fetchone()
        assert row is not None
        at, count = row[:2], count + 1
    engine.db.rollback()
    return count


def look_by_group(engine: MariaDb, limit: int) -> int:
    found = engine.cursor.execute(GROUP, (limit,))
    engine.db.rollback()
    return found


def claim(engine: MariaDb, lanes: int) -> None:
    sql = engine.claim(tenant="%s", limit="%s")
    rows: list[Claimed] = []
    for lane in range(lanes):
        engine.cursor.execute(sql, (f"t{lane:06d}", 0, now_us(), BATCH // lanes))
        rows += engine.cursor.fetchall()
    engine.mark_taken(rows)
    engine.db.commit()
    if len(rows) != BATCH:
        raise SystemExit(f"claimed {len(rows)}")
