"""Q4 on SQLite: one statement for each lane, to look and to claim."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bench.decisions.engines.candidate import BATCH, Variant, now_us
from bench.decisions.engines.sqlite import Sqlite
from bench.decisions.probes.statements import AFTER, EQUAL_PREFIX, STEP
from bench.meters import table, timed

# SQLite seeks to >= a row value and tests each entry of the lane; with an equal prefix it
# seeks past the lane.
ROW_COMPARISON = STEP.format(where=AFTER.format("?, ?, ?"))
EQUAL = STEP.format(where=EQUAL_PREFIX.format("?", "?", "?"))
ADD = """INSERT INTO tenure_jobs (kind, queue, tenant, run_at, created_at, payload)
    VALUES ('noop', 'default', ?, ?, 0, ?)"""


def q4_sqlite(folder: Path, reps: int) -> None:
    looks, claims = [], []
    for lanes in (1, 10, 100, 1000, 10000):
        engine = filled(folder, lanes)
        times = [
            timed(reps, look, engine, sql, limit)
            for sql in (ROW_COMPARISON, EQUAL)
            for limit in (100000, 64)
        ]
        looks.append([lanes, *times])
        if lanes in (1, 100):
            count = min(lanes, 50)
            form = f"{count} lanes x {BATCH // count}"
            claims.append([form, timed(reps, claim, engine, count)])
        engine.close()
    table(
        "Q4 look for lanes, SQLite (one statement a lane)",
        ["lanes", "row comparison, all ms", "64 lanes ms", "equal prefix, all ms", "64 lanes ms"],
        looks,
    )
    table(
        "Q4 claim of 200, SQLite (one statement a lane, one durable transaction)",
        ["form", "ms"],
        claims,
    )


def filled(folder: Path, lanes: int) -> Sqlite:
    engine = Sqlite(folder / "lanes.db", Variant("candidate"))
    engine.create()
    jobs = [(f"t{number % lanes:06d}", number, "x" * 100) for number in range(20000)]
    engine.db.execute("BEGIN")
    engine.db.executemany(ADD, jobs)
    engine.db.execute("COMMIT")
    engine.db.execute("ANALYZE")
    return engine


def look(engine: Sqlite, sql: str, limit: int) -> int:
    at: tuple[Any, ...] = ("default", 0, "")
    count = 0
    while count < limit and (row := engine.db.execute(sql, at).fetchone()):
        at, count = row[:3], count + 1
    return count


def claim(engine: Sqlite, lanes: int) -> None:
    sql, taken = engine.claim(tenant="?4", limit="?5"), 0
    engine.db.execute("BEGIN IMMEDIATE")
    for lane in range(lanes):
        values = (now_us(), 0, 0, f"t{lane:06d}", BATCH // lanes)
        taken += len(engine.db.execute(sql, values).fetchall())
    engine.db.execute("COMMIT")
    if taken != BATCH:
        raise SystemExit(f"claimed {taken}")
