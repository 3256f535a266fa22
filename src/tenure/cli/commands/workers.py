"""`tenure workers`: the worker processes of this database."""

from __future__ import annotations

import typer

from tenure.api.kit.shapes.fleet import worker_shape
from tenure.cli.kit.durations import ago
from tenure.cli.kit.engines import open_existing
from tenure.cli.kit.job_json import items, plain
from tenure.cli.kit.options import AsJson, Database
from tenure.cli.kit.output import show_json, show_table

COLUMNS = ("worker", "host", "pid", "running", "slots", "kinds", "seen", "state")


def workers(database: Database = None, as_json: AsJson = False) -> None:
    """List worker processes, and which of them have stopped responding."""
    engine = open_existing(database)
    found = engine.insight.workers()
    if as_json:
        show_json(items(plain(worker_shape(worker)) for worker in found))
        return
    if not found:
        typer.echo("there are no workers; start one: tenure worker --app MODULE:OBJECT")
        return
    now = engine.store.now()
    show_table(
        COLUMNS,
        [
            (
                worker.id,
                worker.host,
                worker.pid,
                worker.running,
                " ".join(f"{queue}={count}" for queue, count in worker.queues.items()),
                len(worker.kinds),
                ago(worker.seen_at, now),
                "alive" if worker.alive else "silent",
            )
            for worker in found
        ],
    )
