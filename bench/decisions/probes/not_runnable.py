"""Q6: rows at the head of a lane that may not run, of an unknown kind or held."""

from __future__ import annotations

from pathlib import Path

from bench.decisions.engines.candidate import Variant, now_us
from bench.decisions.engines.sqlite import Sqlite
from bench.decisions.probes.explain import Bench
from bench.decisions.probes.statements import CLAIM_ONE, FLOOR, LOOK
from bench.meters import table, timed

# The rows that may run come after this run_at.
LIVE = 200_000
# Name, how many, kind, hold.
HEADS = [
    ("nothing", 0, "noop", 0),
    ("100,000 unknown kind", 100_000, "mystery", 0),
    ("100,000 held", 100_000, "noop", 1),
]
KNOWN = "AND kind = ANY(%(kinds)s::text[])"
ADD = """INSERT INTO tenure_jobs (kind, hold, queue, tenant, run_at, created_at, payload)
    VALUES (?, ?, 'default', 'acme', ?, 0, ?)"""


def q6(bench: Bench) -> None:
    claim = {"now": now_us(), "tenant": "acme", "n": 100, "at": LIVE, "kinds": ["noop", "mail"]}
    statements = [
        ("no floor", CLAIM_ONE.format(more=KNOWN), claim),
        ("floor", CLAIM_ONE.format(more=f"{KNOWN} {FLOOR}"), claim),
        ("look for lanes", LOOK, {"cursor": "", "limit": 64}),
    ]
    rows = []
    for name, count, kind, hold in HEADS:
        bench.engine.create()
        if count:
            bench.fill(count, kind=kind, hold=hold)
        bench.fill(2000, at=LIVE)
        bench.engine.ready()
        for form, sql, values in statements:
            rows.append([f"{name} at the head, {form}", *bench.explain(sql, values)])
    table("Q6 PostgreSQL, claim of 100", ["case", "ms", "buffers", "index"], rows)


def q6_sqlite(folder: Path, reps: int) -> None:
    rows = []
    for name, count, kind, hold in HEADS:
        engine = filled(folder, count, kind, hold)
        for form, at in (("no floor", 0), ("floor", LIVE)):
            rows.append([f"{name} at the head, {form}", timed(reps, claim, engine, at)])
        engine.close()
    table("Q6 SQLite, claim of 100 (durable)", ["case", "ms"], rows)


def filled(folder: Path, count: int, kind: str, hold: int) -> Sqlite:
    engine = Sqlite(folder / "kinds.db", Variant("candidate"))
    engine.create()
    head = [(kind, hold, number, "x" * 100) for number in range(count)]
    live = [("noop", 0, LIVE + 1 + number, "x" * 100) for number in range(20000)]
    engine.db.execute("BEGIN")
    engine.db.executemany(ADD, head + live)
    engine.db.execute("COMMIT")
    return engine


def claim(engine: Sqlite, floor: int) -> None:
    sql = engine.claim(limit="100", more="AND kind IN ('noop', 'mail')")
    engine.db.execute(sql, (now_us(), floor, 0)).fetchall()
