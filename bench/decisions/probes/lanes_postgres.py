"""Q4 on PostgreSQL: what it costs to look for lanes, and to claim from many of them at once."""

from __future__ import annotations

from typing import Any

from bench.decisions.engines.candidate import BATCH, now_us
from bench.decisions.probes.explain import Bench
from bench.decisions.probes.statements import CLAIM_LANES, CLAIM_ONE, LOOK
from bench.meters import table, timed

DISTINCT = "SELECT DISTINCT queue, priority, tenant FROM tenure_jobs WHERE state = 0 AND hold = 0"
LOOK_HEAD = [
    "lanes",
    "full look ms",
    "buffers",
    "64 lanes ms",
    "buffers",
    "64 lanes at client ms",
    "SELECT DISTINCT ms",
    "buffers",
]
CLAIM_HEAD = ["form", "server ms", "buffers", "indexes", "durable, at client ms"]


def q4(bench: Bench) -> None:
    looks = [look(bench, lanes) for lanes in (1, 10, 100, 1000, 10000)]
    table("Q4 look for lanes, PostgreSQL (20,000 queued rows)", LOOK_HEAD, looks)
    claims = [claim_lanes(bench, lanes) for lanes in (1, 50, 200)]
    table("Q4 claim of 200, PostgreSQL", CLAIM_HEAD, [*claims, claim_one(bench)])
    boundary(bench)


def look(bench: Bench, lanes: int) -> list[object]:
    bench.fill_lanes(lanes)
    first = {"cursor": "", "limit": 64}
    middle = first | {"cursor": f"t{lanes // 2:06d}" if lanes > 200 else ""}
    full = bench.explain(LOOK, first | {"limit": 100000})
    some = bench.explain(LOOK, middle)
    trip = timed(bench.reps, run, bench, LOOK, first)
    distinct = bench.explain(DISTINCT, {})
    return [lanes, *full[:2], *some[:2], trip, *distinct[:2]]


def claim_lanes(bench: Bench, lanes: int) -> list[object]:
    bench.fill_lanes(lanes)
    values = lane_values([f"t{lane:06d}" for lane in range(lanes)])
    form = f"LATERAL, {lanes} lanes x {BATCH // lanes}"
    explained = bench.explain(CLAIM_LANES, values)
    return [form, *explained, timed(bench.reps, run, bench, CLAIM_LANES, values)]


def claim_one(bench: Bench) -> list[object]:
    bench.engine.create()
    bench.fill(20000)
    bench.engine.ready()
    sql, values = CLAIM_ONE.format(more=""), {"now": now_us(), "tenant": "acme", "n": BATCH}
    explained = bench.explain(sql, values)
    return ["plain one-lane claim x 200", *explained, timed(bench.reps, run, bench, sql, values)]


def boundary(bench: Bench) -> None:
    """100,000 rows due later in the lane: run_at as an index boundary reads none of them."""
    bench.engine.create()
    bench.fill(100_000, at=now_us() + 3_600_000_000)
    bench.fill(10)
    bench.engine.ready()
    values = lane_values(["acme"])
    if not bench.plans:
        bench.print_plan(bench.client.mogrify(CLAIM_LANES, values))
    table(
        "Q4 boundary: 10 due rows and 100,000 due later in one lane",
        ["ms", "buffers", "indexes"],
        [bench.explain(CLAIM_LANES, values)],
    )


def lane_values(tenants: list[str]) -> dict[str, Any]:
    """A claim of 200 over the lanes of these tenants."""
    return {
        "now": now_us(),
        "queues": ["default"] * len(tenants),
        "priorities": [0] * len(tenants),
        "tenants": tenants,
        "takes": [BATCH // len(tenants)] * len(tenants),
    }


def run(bench: Bench, sql: str, values: dict[str, Any]) -> None:
    bench.db.execute(sql, values).fetchall()
