"""What a scrape of the metrics asks of a database that has kept millions of finished jobs."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.request import urlopen

import psycopg
from psycopg import sql

from bench.app import fill, make_app
from bench.databases import fresh, postgres_server
from bench.figures.grown import finish
from bench.figures.scale import Scale
from bench.result import Result, at_least, at_most
from tenure import Tenure
from tenure.watch import fleet
from tenure.watch.serve import MetricsServer

FINISHED = 5_000_000
QUEUED = 60_000
HELD = 5_000
SCRAPES = 20
LONGEST_MS = 50.0
DURATION = re.compile(r"duration: ([\d.]+) ms")


def scrape(scale: Scale) -> Result:
    """The slowest of all statements of 20 scrapes in the log, with 65,000 jobs queued."""
    with postgres_server() as server, fresh(server) as url:
        finish(url, scale.rows(FINISHED))
        queue(url)
        log = server.home / "log"
        begun, bytes_each = log.stat().st_size, scrape_often(url)
        durations = found_in(log, begun)
    slowest = max(durations)
    return Result(
        bench="scrape",
        value=slowest,
        unit="ms",
        reference=LONGEST_MS,
        ratio=slowest / LONGEST_MS,
        checks=[
            at_most("ms, the slowest statement", slowest, LONGEST_MS),
            at_least("lines in the log", len(durations), 5 * SCRAPES),
        ],
        notes=[
            f"{scale.rows(FINISHED):,} finished rows, {QUEUED:,} due, {HELD:,} held",
            f"{len(durations) // SCRAPES} lines in the log and {bytes_each:,} bytes a scrape",
        ],
    )


def queue(url: str) -> None:
    """Jobs that nobody has vacuumed since: the index alone cannot answer for them."""
    app = make_app(url)
    fill(app, "noop", QUEUED)
    fill(app, "noop", 1_000, queue="mail")
    [first] = app.enqueue_many([app.new("noop", delay=86_400)])
    for _ in range(HELD // 1_000):
        app.enqueue_many([app.new("noop", after=first) for _ in range(1_000)])
    app.close()


def scrape_often(url: str) -> int:
    """Over HTTP, each with a fresh look; the server writes every statement into its log."""
    log_everything(url)
    fleet.FRESH_SECONDS = 0.0
    app = Tenure(url)
    server = MetricsServer(app, 0)
    try:
        for _ in range(SCRAPES):
            with urlopen(f"http://127.0.0.1:{server.port}/metrics") as answer:
                page = answer.read()
    finally:
        server.close()
        app.close()
    if b'queue_depth{queue="default"} 25000.0' not in page:
        raise SystemExit("the scrape did not see the queue")
    return len(page)


def log_everything(url: str) -> None:
    """From the next connection on."""
    with psycopg.connect(url, autocommit=True) as connection:
        name = sql.Identifier(connection.info.dbname)
        connection.execute(
            sql.SQL("ALTER DATABASE {} SET log_min_duration_statement = 0").format(name)
        )


def found_in(log: Path, begun: int) -> list[float]:
    """Milliseconds of each statement."""
    with log.open("rb") as file:
        file.seek(begun)
        return [float(one) for one in DURATION.findall(file.read().decode(errors="replace"))]
