"""Whether a drain slows down when a million finished jobs are still there."""

from __future__ import annotations

import psycopg
from psycopg import sql

from bench.app import make_app
from bench.databases import calm, fresh, postgres_server
from bench.drains import Drain, drain
from bench.figures.drain import on
from bench.figures.scale import Scale
from bench.result import Result, at_least, of_triples
from bench.triples import measure
from tenure import Worker

FINISHED = 1_000_000
JOBS = 20_000
COLUMNS = """
SELECT column_name FROM information_schema.columns
WHERE table_name = 'tenure_jobs' AND column_name <> 'id' ORDER BY ordinal_position"""
COPY = """
INSERT INTO tenure_jobs ({columns})
SELECT {columns} FROM (SELECT {columns} FROM tenure_jobs LIMIT 1) AS one
CROSS JOIN generate_series(1, {count})"""


def grown(scale: Scale) -> Result:
    """No-op jobs, one worker, against an empty table. `--scale 10`: ten million finished rows."""
    jobs = min(JOBS, scale.rows(JOBS))
    with postgres_server() as server, fresh(server) as url:
        finish(url, scale.rows(FINISHED))
        seen = measure(
            on(server, lambda empty, pid: drain(empty, pid, Drain(jobs=jobs))),
            lambda: drain(url, server.process.pid, Drain(jobs=jobs)),
        )
    checks = [at_least("of the empty table's", seen.ratio, 0.8)]
    notes = (f"{scale.rows(FINISHED):,} finished rows",)
    return of_triples("grown", "jobs/s", seen, checks, notes)


def finish(url: str, count: int) -> None:
    """Run one job, then copy its row: as many finished jobs as wanted, all of them true to life."""
    app = make_app(url)
    app.enqueue("noop")
    Worker(app).run_until_idle()
    app.close()
    with psycopg.connect(url, autocommit=True) as connection:
        columns = sql.SQL(", ").join(
            sql.Identifier(name) for (name,) in connection.execute(COLUMNS).fetchall()
        )
        connection.execute(sql.SQL(COPY).format(columns=columns, count=sql.Literal(count)))
    calm(url)
