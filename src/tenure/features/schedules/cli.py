"""`tenure schedules`: what runs when, and changing that at run time."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Annotated, Any

import typer

from tenure.app import Tenure
from tenure.cli.commands.job_moves import actor, noted
from tenure.cli.kit import job_json
from tenure.cli.kit.apps import load_existing
from tenure.cli.kit.durations import ago, exact
from tenure.cli.kit.engines import open_existing
from tenure.cli.kit.options import AsJson, Database, MaybeApp
from tenure.cli.kit.output import show_facts, show_json, show_table
from tenure.cli.kit.values import duration, parse_json
from tenure.core.errors import OptionError
from tenure.features.schedules import CatchUp, Schedule, Schedules
from tenure.features.schedules.shapes import schedule_shape, schedule_shapes

schedules = typer.Typer(help="List, pause, edit and run schedules.")
Name = Annotated[str, typer.Argument(metavar="NAME", help="The schedule.")]
COLUMNS = ("schedule", "when", "kind", "next", "last", "fired", "left out", "state")


@schedules.callback(invoke_without_command=True)
def root(context: typer.Context, database: Database = None, as_json: AsJson = False) -> None:
    """Without a command: the list."""
    if context.invoked_subcommand is None:
        show_all(database, as_json=as_json)


@schedules.command("list")
def show_all(database: Database = None, as_json: AsJson = False) -> None:
    """List all schedules, including those that the code no longer declares."""
    engine = open_existing(database)
    found = Schedules.of(engine).list()
    if as_json:
        show_json(job_json.items(map(job_json.plain, schedule_shapes(engine, found))))
        return
    if not found:
        typer.echo("no schedules; a worker whose app declares some makes their rows")
        return
    now = engine.store.now()
    show_table(
        COLUMNS,
        [
            (row.name, when(row), row.terms.kind, ago(row.next_at, now) if row.active else "",
             ago(row.last_slot, now), row.fired, row.dropped, row.state)
            for row in found
        ],
    )  # fmt: skip


@schedules.command("show")
def show(name: Name, database: Database = None, as_json: AsJson = False) -> None:
    """Show one schedule."""
    engine = open_existing(database)
    _say(engine, Schedules.of(engine).get(name), as_json)


@schedules.command("pause")
def pause(name: Name, database: Database = None, as_json: AsJson = False) -> None:
    """Pause a schedule: none of its slots fires until it is resumed."""
    engine = open_existing(database)
    _say(engine, Schedules.of(engine).pause(name, actor()), as_json)


@schedules.command("resume")
def resume(name: Name, database: Database = None, as_json: AsJson = False) -> None:
    """Resume a schedule with its next slot."""
    engine = open_existing(database)
    _say(engine, Schedules.of(engine).resume(name, actor()), as_json)


@schedules.command("edit")
def edit(
    name: Name,
    cron: Annotated[str | None, typer.Option(metavar="FIELDS", help="Like '30 2 * * *'.")] = None,
    every: Annotated[
        timedelta | None, typer.Option(metavar="DURATION", parser=duration, help="Like 15m.")
    ] = None,
    zone: Annotated[str | None, typer.Option(metavar="NAME", help="Like Europe/Berlin.")] = None,
    payload: Annotated[str | None, typer.Option(metavar="JSON", help="The arguments.")] = None,
    catch_up: Annotated[CatchUp | None, typer.Option(help="For slots that were missed.")] = None,
    limit: Annotated[
        int | None, typer.Option(metavar="N", help="Most slots to catch up, with --catch-up all.")
    ] = None,
    reset: Annotated[bool, typer.Option("--reset", help="Restore what the code declares.")] = False,
    app: MaybeApp = None,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Change a schedule at run time. Later deployments keep the change."""
    seconds = None if every is None else _whole(every)
    given: dict[str, Any] = {
        "cron": cron, "every": seconds, "zone": zone, "catch_up": catch_up, "limit": limit,
        "payload": None if payload is None else parse_json(payload, "payload"),
    }  # fmt: skip
    changes = {key: value for key, value in given.items() if value is not None}
    if reset == bool(changes):
        raise OptionError("say what to edit, like --cron '30 2 * * *', or give --reset alone")
    engine = load_existing(app, database) if app else open_existing(database)
    _say(engine, _edited(engine, name, changes), as_json)


@schedules.command("run")
def run(name: Name, database: Database = None, as_json: AsJson = False) -> None:
    """Add one job of a schedule now, in addition to its slots."""
    engine = open_existing(database)
    ref = Schedules.of(engine).run_now(name)
    noted(engine, "schedule.run", name, job=ref.id)
    if as_json:
        show_json(job_json.added(ref))
    else:
        typer.echo(f"job {ref.id}")


def when(row: Schedule) -> str:
    """`30 2 * * * Europe/Berlin`, `every 5m`."""
    terms = row.terms
    return f"every {exact(terms.every)}" if terms.every else f"{terms.cron} {terms.zone}"


def _edited(engine: Tenure, name: str, changes: dict[str, Any]) -> Schedule:
    change: Callable[..., Schedule] = Schedules.of(engine).edit
    if not changes:
        return Schedules.of(engine).reset(name, actor())
    return change(name, actor(), **changes)


def _whole(every: timedelta) -> int:
    if every.total_seconds() % 1:
        raise OptionError("--every takes whole seconds")
    return int(every.total_seconds())


def _say(engine: Tenure, row: Schedule, as_json: bool) -> None:
    """For programs: as the HTTP API has it."""
    shape = schedule_shape(engine, row)
    if as_json:
        show_json(job_json.plain(shape))
        return
    words = {
        "edited": ", ".join(sorted(row.edited)),
        "next": ", ".join(one.isoformat() for one in shape.next),
        "last_runs": ", ".join(f"{one.job_id} {one.state}" for one in shape.last_runs),
    }
    show_facts({**shape.model_dump(), **words}.items())
