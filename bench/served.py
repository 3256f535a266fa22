"""An HTTP service in a process of its own: `python -m bench.served SORT URL`, SORT tenure or bare.

Its first line tells port and key. `bare` is what somebody writes by hand: two `def` routes over one
INSERT and one SELECT of the same row, with the same driver, as many connections, and the same
check of who asks.
"""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import uvicorn
from fastapi import FastAPI, HTTPException
from psycopg.rows import dict_row
from pydantic import BaseModel

from bench.app import make_app
from tenure import Tenure
from tenure.access import Keys, Permission
from tenure.api import create_api
from tenure.api.kit.identity import Reader, Writer, install_identity
from tenure.stores.sql.idle_connections import MOST as IDLE_CONNECTIONS
from tenure.worker.event_loop import run_loop

NOW = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint"
INSERT = f"""
INSERT INTO tenure_jobs (kind, queue, priority, tenant, payload, run_at, max_attempts,
    correlation_id, enqueued_by, bucket, created_at)
VALUES (%s, 'default', 2, '', %s, {NOW}, 5, %s, %s, 0, {NOW}) RETURNING id"""  # noqa: S608
SELECT = "SELECT * FROM tenure_jobs WHERE id = %s"


class NewRow(BaseModel):
    """What the bare route takes."""

    kind: str
    payload: dict[str, Any]


class Pool:
    """Connections that were used once are used again: as many as Tenure keeps."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._idle: list[psycopg.Connection[dict[str, Any]]] = []
        self._lock = threading.Lock()

    @contextmanager
    def connection(self) -> Iterator[psycopg.Connection[dict[str, Any]]]:
        with self._lock:
            found = self._idle.pop() if self._idle else None
        connection = found or psycopg.connect(
            self._url, autocommit=True, row_factory=dict_row, prepare_threshold=0
        )
        yield connection
        with self._lock:
            if len(self._idle) < IDLE_CONNECTIONS:
                self._idle.append(connection)
                return
        connection.close()


def bare(engine: Tenure) -> FastAPI:
    """Two routes and nothing else."""
    api, pool = FastAPI(), Pool(engine.url)
    install_identity(api, engine)

    @api.post("/api/jobs", status_code=201)
    def add(row: NewRow, caller: Writer) -> dict[str, Any]:
        with pool.connection() as connection:
            values = (row.kind, json.dumps(row.payload), "none", caller.name)
            found = connection.execute(INSERT, values).fetchone()
        return {"jobId": str(found["id"] if found else ""), "created": True}

    @api.get("/api/jobs/{job_id}")
    def read(job_id: int, caller: Reader) -> dict[str, Any]:
        with pool.connection() as connection:
            found = connection.execute(SELECT, (job_id,)).fetchone()
        if found is None:
            raise HTTPException(404)
        return found

    return api


def main() -> None:
    """Serve until the input ends."""
    sort, url = sys.argv[1:]
    engine = make_app(url)
    key, _ = Keys(engine).create("bench", Permission.ADMIN, actor="bench")
    api = create_api(engine) if sort == "tenure" else bare(engine)
    config = uvicorn.Config(api, port=0, log_level="warning", access_log=False)
    server = uvicorn.Server(config)
    run_loop(lambda: _serve(server, key))
    engine.close()


async def _serve(server: uvicorn.Server, key: str) -> None:
    serving = asyncio.ensure_future(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    print(json.dumps({"port": port, "key": key}), flush=True)
    await asyncio.to_thread(sys.stdin.read)
    server.should_exit = True
    await serving


if __name__ == "__main__":
    main()
