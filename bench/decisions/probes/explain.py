"""A PostgreSQL table to fill, and statements explained against it without changing it."""

from __future__ import annotations

import json
import re
from statistics import median
from typing import Any

import psycopg

from bench.decisions.engines.candidate import Variant
from bench.decisions.engines.postgres import Postgres

FILL = """INSERT INTO tenure_jobs
        (kind, queue, tenant, state, hold, run_at, created_at, payload, fence, lease_until)
    SELECT %(kind)s, 'default', {tenant}, %(state)s, %(hold)s, %(at)s::bigint + i, 0,
        repeat('x', 100), %(state)s, CASE %(state)s WHEN 1 THEN %(at)s::bigint + i END
    FROM generate_series(1, %(n)s::int) AS i"""
ACME = "'acme'"

# Median server milliseconds, shared buffers, indexes used.
Explained = tuple[float, int, str]


class Bench:
    """A PostgreSQL table and a way to explain statements against it."""

    def __init__(self, url: str, reps: int, plans: bool) -> None:
        self.engine = Postgres(url, Variant("candidate"))
        self.db, self.reps, self.plans, self.url = self.engine.db, reps, plans, url
        self.client = psycopg.ClientCursor(self.db)

    def fill(
        self,
        n: int,
        tenant: str = ACME,
        *,
        kind: str = "noop",
        state: int = 0,
        hold: int = 0,
        at: int = 0,
    ) -> None:
        """Insert n jobs; `tenant` is an expression over i, the number of the row."""
        values = {"n": n, "kind": kind, "state": state, "hold": hold, "at": at}
        self.db.execute(FILL.format(tenant=tenant), values, prepare=False)

    def fill_lanes(self, lanes: int) -> None:
        """A fresh table of 20,000 jobs, evenly over so many tenants."""
        self.engine.create()
        self.fill(20000, f"'t' || lpad(mod(i, {lanes})::text, 6, '0')")
        self.engine.ready()

    def explain(
        self, sql: str, values: dict[str, Any], *, generic: bool = False, before: str = ""
    ) -> Explained:
        """Explain the statement; `before` runs ahead of it in the same transaction.

        psycopg forgets all prepared statements after a ROLLBACK.
        """
        text = self.client.mogrify(sql, values)
        roots = [self._explain_once(text, generic, before) for _ in range(self.reps)]
        if self.plans and not before:
            self.print_plan(text)
        plan = roots[-1]["Plan"]
        names = re.findall(r'"Index Name": "(\w+)"', json.dumps(plan)) or [plan["Node Type"]]
        return (
            median(float(root["Execution Time"]) for root in roots),
            plan["Shared Hit Blocks"] + plan["Shared Read Blocks"],
            ", ".join(dict.fromkeys(names)),
        )

    def print_plan(self, text: str) -> None:
        lines = self.db.execute(f"EXPLAIN (COSTS OFF) {text}", prepare=False).fetchall()
        print("\n".join(["```", *(line[0] for line in lines), "```"]))

    def _explain_once(self, text: str, generic: bool, before: str) -> dict[str, Any]:
        mode = "force_generic_plan" if generic else "auto"
        explain = f"EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) {text}"
        self.db.execute("BEGIN")
        self.db.execute(f"SET LOCAL plan_cache_mode = {mode}")
        self.db.execute(before or "SELECT 1", prepare=False)
        root: dict[str, Any] = self.db.execute(explain, prepare=False).fetchall()[0][0][0]
        self.db.execute("ROLLBACK")
        return root
