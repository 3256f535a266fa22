"""Q7 on PostgreSQL: which plan a settle gets from fresh, stale and missing statistics.

100,000 finished rows, 20,000 dead entries in the lease index, a few or many live leases.
"""
# Fixed texts of a measurement, no input of anybody:
# ruff: noqa: S608

from __future__ import annotations

from bench.decisions.engines.candidate import BATCH, DONE, now_us
from bench.decisions.probes.explain import Bench, Explained
from bench.decisions.probes.statements import SETTLE
from bench.meters import table

FORMS = {"state = 1": "j.state = 1", "state + 0 = 1": "j.state + 0 = 1", "no state": "true"}
TYPES = {"now": "bigint", "ids": "bigint[]", "fences": "int[]", "results": "text[]"}
FINISH = f"UPDATE tenure_jobs SET {DONE.format(now='1', result='NULL')} WHERE state = 1"
NEWEST = f"SELECT id FROM tenure_jobs WHERE state = 1 ORDER BY id DESC LIMIT {BATCH}"


def q7(bench: Bench) -> None:
    rows = []
    for statistics in ("fresh", "stale", "none"):
        for running in (200, 5000):
            ids = fill(bench, statistics, running)
            rows += [
                [statistics, running, name, plan, *explain(bench, state, ids, plan == "generic")]
                for name, state in FORMS.items()
                for plan in ("custom", "generic")
            ]
    table(
        "Q7 settle of 200",
        ["statistics", "running", "form", "plan", "ms", "buffers", "index"],
        rows,
    )


def fill(bench: Bench, statistics: str, running: int) -> list[int]:
    """Fill the table and return the ids of a batch that runs."""
    bench.engine.create()
    bench.fill(100_000, state=2)
    if statistics == "stale":
        bench.db.execute("ANALYZE tenure_jobs")
    for _ in range(4):
        bench.fill(5000, state=1)
        bench.db.execute(FINISH)
    bench.fill(running, state=1, at=now_us())
    if statistics == "fresh":
        bench.db.execute("ANALYZE tenure_jobs")
    return [row[0] for row in bench.db.execute(NEWEST)]


def explain(bench: Bench, state: str, ids: list[int], generic: bool) -> Explained:
    """Explain the settle as a prepared statement sees it."""
    sql = SETTLE.format(state=state)
    for place, name in enumerate(TYPES, 1):
        sql = sql.replace(f"%({name})s", f"${place}")
    return bench.explain(
        "EXECUTE settle(%(now)s, %(ids)s, %(fences)s, %(results)s)",
        {"now": 1, "ids": ids, "fences": [1] * len(ids), "results": ["{}"] * len(ids)},
        generic=generic,
        before=f"PREPARE settle({', '.join(TYPES.values())}) AS {sql}",
    )
