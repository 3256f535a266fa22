"""`tenure workers`: the worker processes of this database."""

from __future__ import annotations

from typing import Annotated

import typer

from tenure.api.kit.shapes.fleet import worker_shape
from tenure.cli.commands.job_moves import actor
from tenure.cli.kit.durations import ago
from tenure.cli.kit.engines import open_existing
from tenure.cli.kit.job_json import items, plain
from tenure.cli.kit.options import AsJson, Database
from tenure.cli.kit.output import show_json, show_table
from tenure.core.errors import OptionError

COLUMNS = ("worker", "host", "pid", "running", "slots", "kinds", "release", "seen", "state")
workers = typer.Typer(help="List and stop worker processes.")
WorkerId = Annotated[str, typer.Argument(metavar="ID", help="Id of the worker.")]


@workers.callback(invoke_without_command=True)
def root(context: typer.Context, database: Database = None, as_json: AsJson = False) -> None:
    """List worker processes, and which of them have stopped responding."""
    if context.invoked_subcommand is None:
        show(database, as_json=as_json)


@workers.command("list")
def show(database: Database = None, as_json: AsJson = False) -> None:
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
                worker.release or "-",
                ago(worker.seen_at, now),
                "alive" if worker.alive else "silent",
            )
            for worker in found
        ],
    )


@workers.command("stop")
def stop(worker_id: WorkerId, database: Database = None, as_json: AsJson = False) -> None:
    """Ask a worker to stop: within 15 seconds it starts nothing new and finishes what runs. A
    supervisor may start another one in its place.
    """
    if not open_existing(database).operator.stop_worker(worker_id, actor()):
        raise OptionError(f"there is no worker {worker_id!r}; `tenure workers` lists them")
    if as_json:
        show_json({"workerId": worker_id, "stopping": True})
    else:
        typer.echo(f"worker {worker_id} is asked to stop")
