"""What a minimal Python loop attains on PostgreSQL: claim 200, run nothing, settle 200, durable.

No fence, lease renewal, retry or history: the limit that an engine is compared with.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from threading import Thread

import asyncpg  # type: ignore[import-untyped]
import psycopg

from bench.databases import calm
from bench.meters import cpu_seconds
from bench.triples import Reading

BATCH = 200
TABLE = """
CREATE TABLE raw_jobs (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    queue text NOT NULL DEFAULT 'default',
    kind text NOT NULL DEFAULT 'noop',
    payload bytea NOT NULL DEFAULT '{}',
    state smallint NOT NULL DEFAULT 0,
    priority smallint NOT NULL DEFAULT 0,
    attempt smallint NOT NULL DEFAULT 0,
    run_at timestamptz NOT NULL DEFAULT now(),
    lease_until timestamptz,
    worker int,
    finished_at timestamptz);
CREATE INDEX raw_ready ON raw_jobs (queue, priority, id) WHERE state = 0;
CREATE INDEX raw_leased ON raw_jobs (lease_until) WHERE state = 1;
"""
FILL = "INSERT INTO raw_jobs (payload) SELECT '{}'::bytea FROM generate_series(1, $1)"
CLAIM = f"""
UPDATE raw_jobs
SET state = 1, attempt = attempt + 1, lease_until = now() + interval '60s', worker = 1
WHERE id = ANY(ARRAY(
    SELECT id FROM raw_jobs WHERE queue = 'default' AND state = 0
    ORDER BY priority, id LIMIT {BATCH} FOR UPDATE SKIP LOCKED))
RETURNING id, kind, payload, attempt"""  # noqa: S608 - a number of ours
SETTLE = """
UPDATE raw_jobs SET state = 2, finished_at = now(), lease_until = NULL
WHERE id = ANY($1::bigint[]) AND state = 1"""
INSERT = "INSERT INTO raw_jobs (kind, payload) VALUES (%s, %s) RETURNING id"
INSERT_MANY = """
INSERT INTO raw_jobs (kind, payload) SELECT * FROM unnest($1::text[], $2::bytea[]) RETURNING id"""


def drain(url: str, server: int, jobs: int) -> Reading:
    """Claim and settle in sequence, one connection each, until nothing is left."""
    return asyncio.run(_drain(url, server, jobs))


async def _drain(url: str, server: int, jobs: int) -> Reading:
    claiming, settling = await asyncpg.connect(url), await asyncpg.connect(url)
    await claiming.execute(TABLE)
    await claiming.execute(FILL, jobs)
    await asyncio.to_thread(calm, url)
    claim, settle = await claiming.prepare(CLAIM), await settling.prepare(SETTLE)
    charged, used, begun = cpu_seconds(server), time.process_time(), time.perf_counter()
    done = 0
    while rows := await claim.fetch():
        for row in rows:
            await _noop(row["payload"])
        await settle.fetch([row["id"] for row in rows])
        done += len(rows)
    seconds, cpu = time.perf_counter() - begun, time.process_time() - used
    charged = cpu_seconds(server) - charged
    await claiming.close()
    await settling.close()
    if done != jobs:
        raise SystemExit(f"the raw loop did {done} of {jobs}")
    return Reading(value=jobs / seconds, worker_us=cpu / jobs * 1e6, server_us=charged / jobs * 1e6)


async def _noop(payload: bytes) -> None:
    """The body of a raw job."""


def insert(url: str, server: int, jobs: int, callers: int) -> Reading:
    """Prepared single INSERTs, each durable, from so many threads with a connection each."""
    connections = [psycopg.connect(url, autocommit=True) for _ in range(callers)]
    connections[0].execute(TABLE)
    for connection in connections:
        _insert_one(connection)
    calm(url)
    each = jobs // callers
    threads = [Thread(target=_insert_some, args=(one, each)) for one in connections]
    charged, used, begun = cpu_seconds(server), time.process_time(), time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds, cpu = time.perf_counter() - begun, time.process_time() - used
    reading = _per_job(each * callers, seconds, cpu, cpu_seconds(server) - charged)
    for connection in connections:
        connection.close()
    return reading


def _insert_some(connection: psycopg.Connection, count: int) -> None:
    for _ in range(count):
        _insert_one(connection)


def _insert_one(connection: psycopg.Connection) -> None:
    connection.execute(INSERT, ("noop", b"{}"), prepare=True).fetchone()


def insert_many(url: str, server: int, jobs: int, at_once: int) -> Reading:
    """Arrays of rows in one statement."""
    return asyncio.run(_insert_many(url, server, jobs, at_once))


async def _insert_many(url: str, server: int, jobs: int, at_once: int) -> Reading:
    connection = await asyncpg.connect(url)
    await connection.execute(TABLE)
    statement = await connection.prepare(INSERT_MANY)
    values: Sequence[Sequence[object]] = (["noop"] * at_once, [b"{}"] * at_once)
    await statement.fetch(*values)
    await asyncio.to_thread(calm, url)
    charged, used, begun = cpu_seconds(server), time.process_time(), time.perf_counter()
    for _ in range(jobs // at_once):
        await statement.fetch(*values)
    seconds, cpu = time.perf_counter() - begun, time.process_time() - used
    reading = _per_job(jobs, seconds, cpu, cpu_seconds(server) - charged)
    await connection.close()
    return reading


def _per_job(jobs: int, seconds: float, worker: float, server: float) -> Reading:
    return Reading(
        value=jobs / seconds, worker_us=worker / jobs * 1e6, server_us=server / jobs * 1e6
    )
