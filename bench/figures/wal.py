"""WAL bytes per job of claim and settle, against a raw loop on the very same table."""

from __future__ import annotations

import asyncio
import random
from functools import partial

import asyncpg  # type: ignore[import-untyped]
import psycopg

from bench.app import RESULT, fill, make_app
from bench.children import child
from bench.databases import POSTGRES, postgres_server
from bench.drains import NOOP_SLOTS, timed_drain
from bench.figures.drain import on
from bench.figures.scale import Scale
from bench.result import Result, at_most, of_triples
from bench.triples import Reading, measure

JOBS = 20_000
PAYLOAD_BYTES = 1_024
BATCH = 200
# Vacuum beside the loop would add its own bytes, now to this side and now to that.
SETTINGS = {**POSTGRES, "autovacuum": "off"}
CLAIM = f"""
UPDATE tenure_jobs SET state = 1, attempt = attempt + 1, fence = fence + 1, lease_owner = $1,
    lease_until = $2, started_at = $2
WHERE id = ANY(ARRAY(
    SELECT id FROM tenure_jobs WHERE queue = 'default' AND state = 0 AND hold = 0
    ORDER BY priority, tenant, run_at, id LIMIT {BATCH} FOR UPDATE SKIP LOCKED))
RETURNING id, kind, payload, attempt, fence"""  # noqa: S608 - a number of ours
SETTLE = """
UPDATE tenure_jobs SET state = 2, finished_at = $2, lease_until = NULL, result = $3
WHERE id = ANY($1::bigint[]) AND state + 0 = 1"""


def wal(scale: Scale) -> Result:
    """1 KiB payload, 200 B result."""
    jobs = scale.rows(JOBS)
    with postgres_server(SETTINGS) as server:
        seen = measure(
            on(server, lambda url, _: _raw(url, jobs)),
            on(server, lambda url, pid: _tenure(url, pid, jobs)),
        )
    checks = [at_most("x the raw loop", seen.ratio, 1.15)]
    return of_triples("wal", "bytes/job", seen, checks)


def _filled(url: str, jobs: int) -> None:
    """The checkpoint comes before the rows: none of their pages is logged a second time."""
    app, noise = make_app(url), random.Random(7)
    app.store.now()
    _execute(url, "CHECKPOINT")
    text = noise.randbytes(PAYLOAD_BYTES // 2).hex()[: PAYLOAD_BYTES - len('{"text":""}')]
    fill(app, "result", jobs, {"text": text})
    app.close()
    _execute(url, "ANALYZE")


def _tenure(url: str, server: int, jobs: int) -> Reading:
    _filled(url, jobs)
    with child("bench.worker", url, NOOP_SLOTS) as worker:
        worker.ask("warm")
        begun = _written(url)
        drained = timed_drain([worker], server, jobs)
        logged = _written(url) - begun
    return Reading(value=logged / jobs, worker_us=drained.worker_us, server_us=drained.server_us)


def _raw(url: str, jobs: int) -> Reading:
    """The columns that every engine must write, on the same columns and indexes, batch 200."""
    _filled(url, jobs)
    begun = _written(url)
    done = asyncio.run(_loop(url))
    if done != jobs:
        raise SystemExit(f"the raw loop did {done} of {jobs}")
    return Reading(value=(_written(url) - begun) / jobs)


async def _loop(url: str) -> int:
    connection = await asyncpg.connect(url)
    claim, settle = await connection.prepare(CLAIM), await connection.prepare(SETTLE)
    done, until = 0, 1_900_000_000_000_000
    take = partial(claim.fetch, "bench:1234:0123abcd", until)
    while rows := await take():
        await settle.fetch([row["id"] for row in rows], until, f'"{RESULT}"')
        done += len(rows)
    await connection.close()
    return done


def _written(url: str) -> int:
    """Bytes of WAL so far, also those not yet on disk."""
    with psycopg.connect(url, autocommit=True) as connection:
        row = connection.execute("SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn").fetchone()
        return int(row[0]) if row else 0


def _execute(url: str, statement: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statement)
