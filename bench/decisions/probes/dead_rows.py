"""Q5 on PostgreSQL: settled rows at the head of a lane, with and without an old snapshot.

Lane acme has a dead head, then live rows; lane mmm is all dead; lane zeta is live; 100 leases
are not yet over.
"""
# Fixed texts of a measurement, no input of anybody:
# ruff: noqa: S608

from __future__ import annotations

from typing import Any

import psycopg

from bench.decisions.engines.candidate import DONE, LEASE, TAKEN, now_us
from bench.decisions.probes.explain import Bench
from bench.decisions.probes.statements import (
    AFTER,
    BEFORE,
    CLAIM_ONE,
    EQUAL_PREFIX,
    FLOOR,
    LEASES,
    LOOK,
    STEP,
)
from bench.meters import table

DEAD = 100_000
# The live rows of a lane come after this run_at.
LIVE = DEAD * 2
KNOWN_LANES = f"""SELECT lane.t, p.run_at
    FROM (VALUES ('acme', {LIVE}::bigint), ('mmm', {DEAD}::bigint), ('zeta', {LIVE}::bigint))
        AS lane(t, at)
    CROSS JOIN LATERAL (
        SELECT run_at FROM tenure_jobs j
        WHERE queue = 'default' AND priority = 0 AND tenant = lane.t AND state = 0 AND hold = 0
            AND (run_at, id) > (lane.at, 0)
        ORDER BY run_at, id LIMIT 1) p"""
Case = tuple[str, str, dict[str, Any]]


def q5(bench: Bench) -> None:
    for pinned in (False, True):
        bench.engine.create()
        for tenant in ("'acme'", "'mmm'"):
            bench.fill(DEAD, tenant)
        with psycopg.connect(bench.url) as other:
            if pinned:
                other.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
                other.execute("SELECT 1")
            settle_all_and_add_live_rows(bench)
            title = "pinned snapshot" if pinned else "no snapshot, vacuumed"
            table(
                f"Q5 {title}: 2 x {DEAD:,} settled rows",
                ["statement", "ms", "buffers", "index"],
                [(name, *bench.explain(sql, values)) for name, sql, values in cases()],
            )


def settle_all_and_add_live_rows(bench: Bench) -> None:
    bench.db.execute(f"UPDATE tenure_jobs SET {TAKEN.format(until='1000 + id', now='1')}")
    bench.db.execute(f"UPDATE tenure_jobs SET {DONE.format(now='1', result='NULL')}")
    for tenant in ("'acme'", "'zeta'"):
        bench.fill(2000, tenant, at=LIVE)
    bench.fill(100, state=1, at=now_us() + LEASE)
    bench.engine.ready()


def cases() -> list[Case]:
    return [*claims(), *looks(), *gaps(), *leases()]


def claims() -> list[Case]:
    values = {"now": now_us(), "tenant": "acme", "n": 100, "at": LIVE}
    apart = "AND run_at >= %(at)s AND id > 0"
    return [
        ("claim 100, no floor", CLAIM_ONE.format(more=""), values),
        ("claim 100, floor as row comparison", CLAIM_ONE.format(more=FLOOR), values),
        ("claim 100, floor as run_at >= x AND id > y", CLAIM_ONE.format(more=apart), values),
    ]


def looks() -> list[Case]:
    return [
        ("look, plain: first lane (dead head)", between(""), {}),
        ("look, plain: next after acme (crosses the dead lane mmm)", between("acme"), {}),
        ("look, whole, plain", LOOK, {"cursor": "", "limit": 64}),
    ]


def gaps() -> list[Case]:
    equal = "gap with equal queue and priority"
    return [
        ("gap as two row comparisons: before acme", between("", "acme"), {}),
        ("gap as two row comparisons: acme..mmm", between("acme", "mmm"), {}),
        (f"{equal}: before acme", gap("", "acme"), {}),
        (f"{equal}: acme..mmm", gap("acme", "mmm"), {}),
        (f"{equal}: mmm..zeta", gap("mmm", "zeta"), {}),
        (f"{equal}: acme..zeta (mmm forgotten)", gap("acme", "zeta"), {}),
        ("known lanes acme, mmm, zeta by their floors", KNOWN_LANES, {}),
    ]


def leases() -> list[Case]:
    now = now_us()
    swept = LEASES.format(more="AND lease_until > %(last)s")
    bounded = {"now": now, "last": now - 5_000_000}
    return [
        ("expired leases, plain", LEASES.format(more=""), {"now": now}),
        ("expired leases, lease_until > last sweep", swept, bounded),
    ]


def between(after: str, before: str = "") -> str:
    """The next lane after a tenant, and before another, as row comparisons."""
    where = AFTER.format(f"'default', 0, '{after}'")
    if before:
        where += " AND " + BEFORE.format(f"'default', 0, '{before}'")
    return STEP.format(where=where)


def gap(after: str, before: str) -> str:
    """The next lane between two tenants, as an equal prefix and scalar bounds."""
    start = EQUAL_PREFIX.format("'default'", 0, f"'{after}'")
    return STEP.format(where=f"{start} AND tenant < '{before}'")
