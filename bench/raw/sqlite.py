"""What a minimal loop attains on SQLite: settle 200 and claim the next 200 in one transaction."""

from __future__ import annotations

import json
import sqlite3
import time
from pathlib import Path

from bench.triples import Reading

BATCH = 200
TABLE = """
CREATE TABLE raw_jobs (
    id INTEGER PRIMARY KEY,
    queue TEXT NOT NULL DEFAULT 'default',
    kind TEXT NOT NULL DEFAULT 'noop',
    payload BLOB NOT NULL DEFAULT x'',
    state INTEGER NOT NULL DEFAULT 0,
    priority INTEGER NOT NULL DEFAULT 0,
    attempt INTEGER NOT NULL DEFAULT 0,
    run_at REAL NOT NULL DEFAULT 0,
    lease_until REAL,
    worker INTEGER,
    finished_at REAL);
CREATE INDEX raw_ready ON raw_jobs (queue, priority, id) WHERE state = 0;
CREATE INDEX raw_leased ON raw_jobs (lease_until) WHERE state = 1;
"""
FILL = "INSERT INTO raw_jobs (payload) VALUES (?)"
CLAIM = f"""
UPDATE raw_jobs SET state = 1, attempt = attempt + 1, lease_until = ?, worker = 1
WHERE id IN (SELECT id FROM raw_jobs WHERE queue = 'default' AND state = 0
    ORDER BY priority, id LIMIT {BATCH})
RETURNING id, kind, payload, attempt"""  # noqa: S608 - a number of ours
SETTLE = """
UPDATE raw_jobs SET state = 2, finished_at = ?, lease_until = NULL
WHERE id IN (SELECT value FROM json_each(?)) AND state = 1"""
PRAGMAS = (
    "journal_mode = WAL",
    "synchronous = FULL",
    "cache_size = -65536",
    "mmap_size = 268435456",
    "wal_autocheckpoint = 4000",
)


def drain(folder: Path, jobs: int) -> Reading:
    """Fill a new file, then run the fused loop until nothing is left."""
    path = folder / "raw.db"
    for old in folder.glob("raw.db*"):
        old.unlink()
    connection = sqlite3.connect(path, isolation_level=None)
    for pragma in PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")
    connection.executescript(TABLE)
    connection.execute("BEGIN IMMEDIATE")
    connection.executemany(FILL, [(b"{}",)] * jobs)
    connection.execute("COMMIT")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    used, begun = time.process_time(), time.perf_counter()
    done = _loop(connection)
    seconds, cpu = time.perf_counter() - begun, time.process_time() - used
    connection.close()
    if done != jobs:
        raise SystemExit(f"the raw loop did {done} of {jobs}")
    return Reading(value=jobs / seconds, worker_us=cpu / jobs * 1e6)


def _loop(connection: sqlite3.Connection) -> int:
    done, held = 0, [0]
    settled: list[int] = []
    while held:
        connection.execute("BEGIN IMMEDIATE")
        if settled:
            connection.execute(SETTLE, (time.time(), json.dumps(settled)))
        rows = connection.execute(CLAIM, (time.time() + 60,)).fetchall()
        connection.execute("COMMIT")
        settled = held = [row[0] for row in rows]
        done += len(held)
    return done
