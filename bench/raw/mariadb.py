"""What a minimal loop attains on MariaDB: settle 200 and claim the next 200 in one transaction."""

from __future__ import annotations

import time
from typing import Any
from urllib.parse import urlsplit

import pymysql

from bench.meters import cpu_seconds
from bench.triples import Reading

BATCH = 200
TABLE = """
CREATE TABLE raw_jobs (
    id BIGINT AUTO_INCREMENT PRIMARY KEY,
    queue VARCHAR(64) NOT NULL DEFAULT 'default',
    kind VARCHAR(64) NOT NULL DEFAULT 'noop',
    payload VARBINARY(200) NOT NULL DEFAULT '',
    state TINYINT NOT NULL DEFAULT 0,
    priority SMALLINT NOT NULL DEFAULT 0,
    attempt SMALLINT NOT NULL DEFAULT 0,
    lease_until DATETIME(3) NULL,
    worker INT NULL,
    finished_at DATETIME(3) NULL,
    KEY ready (state, queue, priority, id)) ENGINE=InnoDB"""
FILL = "INSERT INTO raw_jobs (payload) VALUES (%s)"
FIND = f"""
SELECT id, kind, payload, attempt FROM raw_jobs WHERE state = 0 AND queue = 'default'
ORDER BY priority, id LIMIT {BATCH} FOR UPDATE SKIP LOCKED"""  # noqa: S608 - a number of ours
CLAIM = """
UPDATE raw_jobs SET state = 1, attempt = attempt + 1, worker = 1,
    lease_until = NOW(3) + INTERVAL 60 SECOND WHERE id IN %s"""
SETTLE = "UPDATE raw_jobs SET state = 2, finished_at = NOW(3) WHERE id IN %s AND state = 1"


def drain(url: str, server: int, jobs: int) -> Reading:
    """Fill, then run the fused loop until nothing is left."""
    parts = urlsplit(url)
    connection = pymysql.connect(
        host=parts.hostname,
        port=parts.port or 3306,
        user=parts.username,
        database=parts.path.lstrip("/"),
        init_command="SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
    )
    cursor = connection.cursor()
    cursor.execute(TABLE)
    for _ in range(jobs // 1_000):
        cursor.executemany(FILL, [(b"{}",)] * 1_000)
    connection.commit()
    charged, used, begun = cpu_seconds(server), time.process_time(), time.perf_counter()
    done = _loop(connection, cursor)
    seconds, cpu = time.perf_counter() - begun, time.process_time() - used
    charged = cpu_seconds(server) - charged
    connection.close()
    if done != jobs // 1_000 * 1_000:
        raise SystemExit(f"the raw loop did {done} of {jobs}")
    return Reading(value=done / seconds, worker_us=cpu / done * 1e6, server_us=charged / done * 1e6)


def _loop(connection: Any, cursor: Any) -> int:
    done, held = 0, [0]
    settled: list[int] = []
    while held:
        if settled:
            cursor.execute(SETTLE, (settled,))
        cursor.execute(FIND)
        held = [row[0] for row in cursor.fetchall()]
        if held:
            cursor.execute(CLAIM, (held,))
        connection.commit()
        settled = held
        done += len(held)
    return done
