"""`tenure queues`: what waits, and pausing it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from tenure.cli.engines import open_existing
from tenure.cli.moves import actor
from tenure.cli.options import AsJson, Database
from tenure.cli.output import show_json, show_table
from tenure.cli.words import ago

queues = typer.Typer(help="See, pause and resume queues.")
Name = Annotated[str, typer.Argument(metavar="NAME", help="The queue.")]
COLUMNS = ("queue", "queued", "running", "oldest due", "state")


@queues.callback(invoke_without_command=True)
def root(context: typer.Context, database: Database = None, as_json: AsJson = False) -> None:
    """Without a command: the list."""
    if context.invoked_subcommand is None:
        show(database, as_json=as_json)


@queues.command("list")
def show(database: Database = None, as_json: AsJson = False) -> None:
    """Every queue with open jobs or a pause."""
    engine = open_existing(database)
    found = engine.insight.queues()
    if as_json:
        show_json([asdict(queue) for queue in found])
        return
    if not found:
        typer.echo("no queue has open jobs, and none is paused")
        return
    now = engine.store.now()
    show_table(
        COLUMNS,
        [
            (
                queue.name,
                queue.queued,
                queue.running,
                ago(queue.oldest_run_at, now),
                "paused" if queue.paused else "open",
            )
            for queue in found
        ],
    )


@queues.command("pause")
def pause(name: Name, database: Database = None, as_json: AsJson = False) -> None:
    """No worker starts a job of this queue until it is resumed."""
    open_existing(database).operator.pause(name, actor())
    _say(name, paused=True, as_json=as_json)


@queues.command("resume")
def resume(name: Name, database: Database = None, as_json: AsJson = False) -> None:
    """Go on."""
    open_existing(database).operator.resume(name, actor())
    _say(name, paused=False, as_json=as_json)


def _say(name: str, *, paused: bool, as_json: bool) -> None:
    if as_json:
        show_json({"name": name, "paused": paused})
    else:
        typer.echo(f"queue {name} is {'paused' if paused else 'open'}")
