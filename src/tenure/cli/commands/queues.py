"""`tenure queues`: depth, pauses and options of queues."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

import typer

from tenure.api.kit.shapes.fleet import queue_shape
from tenure.app import Tenure
from tenure.cli.commands.job_moves import actor, noted
from tenure.cli.kit.durations import ago
from tenure.cli.kit.engines import open_existing
from tenure.cli.kit.job_json import items, plain
from tenure.cli.kit.options import AsJson, Database
from tenure.cli.kit.output import show_json, show_table
from tenure.core.errors import OptionError
from tenure.operations.insight import QueueView

queues = typer.Typer(help="List, pause and resume queues; set their options.")
Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the queue.")]
Fair = Annotated[
    bool | None,
    typer.Option(
        "--fair/--no-fair", help="Share slots between tenants, or run the oldest job first."
    ),
]
Ageing = Annotated[
    str | None,
    typer.Option(
        metavar="SECONDS|off", help="Raise the priority of a job that has waited this long."
    ),
]
Prefetch = Annotated[
    str | None,
    typer.Option(metavar="N|auto", help="Jobs to claim ahead of free slots; 0 disables it."),
]
Reason = Annotated[str | None, typer.Option(metavar="TEXT", help="Reason that `jobs why` shows.")]
COLUMNS = ("queue", "queued", "running", "oldest due", "state", "options")


@queues.callback(invoke_without_command=True)
def root(context: typer.Context, database: Database = None, as_json: AsJson = False) -> None:
    """List the queues if no subcommand is given."""
    if context.invoked_subcommand is None:
        show(database, as_json=as_json)


@queues.command("list")
def show(database: Database = None, as_json: AsJson = False) -> None:
    """List queues that have open jobs, are paused or have options."""
    engine = open_existing(database)
    options = _options(engine)
    found = {queue.name: queue for queue in engine.insight.queues()}
    views = [found.get(name) or _empty(name) for name in sorted(found.keys() | options.keys())]
    if as_json:
        show_json(
            items(
                {**plain(queue_shape(one)), "options": options.get(one.name, {})} for one in views
            )
        )
        return
    if not views:
        typer.echo("no queue has open jobs, is paused or has options")
        return
    now = engine.store.now()
    show_table(COLUMNS, [_row(one, options.get(one.name, {}), now) for one in views])


@queues.command("set")
def put(
    name: Name,
    fair: Fair = None,
    ageing: Ageing = None,
    prefetch: Prefetch = None,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Set options of a queue. They override the code and reach workers within 15 seconds."""
    engine = open_existing(database)
    changes: dict[str, Any] = {} if fair is None else {"fair": fair}
    if ageing is not None:
        changes["ageing"] = None if ageing == "off" else _number("ageing", ageing, "off")
    if prefetch is not None:
        changes["prefetch"] = None if prefetch == "auto" else _whole(prefetch)
    if not changes:
        raise OptionError("give at least one of --fair, --no-fair, --ageing and --prefetch")
    engine.queues.set(name, **changes)
    noted(engine, "queue.set", name, **changes)
    _say_options(engine, name, as_json=as_json)


@queues.command("reset")
def reset(name: Name, database: Database = None, as_json: AsJson = False) -> None:
    """Remove options set by operators. The options in code apply again."""
    engine = open_existing(database)
    if engine.queues.forget(name):
        noted(engine, "queue.reset", name)
    _say_options(engine, name, as_json=as_json)


@queues.command("pause")
def pause(
    name: Name, reason: Reason = None, database: Database = None, as_json: AsJson = False
) -> None:
    """Pause a queue: workers start none of its jobs until it is resumed."""
    open_existing(database).operator.pause(name, actor(), reason=reason)
    _say(name, paused=True, as_json=as_json)


@queues.command("resume")
def resume(name: Name, database: Database = None, as_json: AsJson = False) -> None:
    """Resume a paused queue."""
    open_existing(database).operator.resume(name, actor())
    _say(name, paused=False, as_json=as_json)


def _say(name: str, *, paused: bool, as_json: bool) -> None:
    if as_json:
        show_json({"name": name, "paused": paused})
    else:
        typer.echo(f"queue {name} is {'paused' if paused else 'open'}")


def _options(engine: Tenure) -> dict[str, dict[str, Any]]:
    """Options that differ from the defaults: those of live workers, overridden by operators."""
    found: dict[str, dict[str, Any]] = {}
    for worker in engine.insight.workers():
        if worker.alive:  # a dead worker may have run an older release
            for name, said in worker.queue_options.items():
                found[name] = dict(said)
    for name, kept in engine.queues.kept().items():
        found[name] = {**found.get(name, {}), **kept}
    return {name: said for name, said in found.items() if said}


def _words(said: Mapping[str, Any]) -> str:
    """`oldest first, ageing 60 s, prefetch 0`; a dash if all options have their defaults."""
    words = ["oldest first"] if said.get("fair") is False else []
    if said.get("ageing") is not None:
        words.append(f"ageing {said['ageing']:g} s")
    if said.get("prefetch") is not None:
        words.append(f"prefetch {said['prefetch']}")
    return ", ".join(words) or "-"


def _row(queue: QueueView, said: Mapping[str, Any], now: datetime) -> tuple[object, ...]:
    due, state = ago(queue.oldest_run_at, now), "paused" if queue.paused else "open"
    if queue.paused_reason:
        state = f"paused: {queue.paused_reason}"
    return (queue.name, queue.queued, queue.running, due, state, _words(said))


def _empty(name: str) -> QueueView:
    return QueueView(name=name, queued=0, running=0, oldest_run_at=None, paused=False)


def _say_options(engine: Tenure, name: str, *, as_json: bool) -> None:
    said = _options(engine).get(name, {})
    if as_json:
        show_json({"name": name, "options": said})
    else:
        words = _words(said)
        typer.echo(f"queue {name}: {'default options' if words == '-' else words}")


def _number(name: str, text: str, word: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise OptionError(f"{name} must be a number or {word!r}, not {text!r}") from None


def _whole(text: str) -> int | float:
    number = _number("prefetch", text, "auto")
    return int(number) if number.is_integer() else number
