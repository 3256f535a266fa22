"""`tenure limits`: how many jobs of a kind run at a time, and how fast they start."""

from __future__ import annotations

from typing import Annotated

import typer

from tenure.cli.commands.job_moves import noted
from tenure.cli.commands.limit_holds import LimitKey, hold, hold_json, release, show_holds
from tenure.cli.kit.apps import load_existing
from tenure.cli.kit.camel_case import camel
from tenure.cli.kit.engines import open_existing
from tenure.cli.kit.job_json import items
from tenure.cli.kit.options import AsJson, Database, MaybeApp
from tenure.cli.kit.output import show_json, show_table
from tenure.core.rules.limits import Limit
from tenure.operations.limits import KindLimit

limits = typer.Typer(
    help="List and set limits: jobs at a time, and starts per period. Hold kinds and keys."
)
Kind = Annotated[str, typer.Argument(metavar="KIND", help="Kind of job.")]
EachKey = Annotated[
    bool,
    typer.Option("--each-key", help="Apply the limit to each limit_key instead of the whole kind."),
]
Running = Annotated[int | None, typer.Option(metavar="N", help="Jobs that may run at a time.")]
Rate = Annotated[float | None, typer.Option(metavar="N", help="Starts allowed per period.")]
Per = Annotated[float, typer.Option(metavar="SECONDS", help="Length of the period.")]
Burst = Annotated[int | None, typer.Option(metavar="N", help="Burst size.")]


@limits.callback(invoke_without_command=True)
def root(context: typer.Context, database: Database = None, as_json: AsJson = False) -> None:
    """List the limits if no subcommand is given."""
    if context.invoked_subcommand is None:
        show(database=database, as_json=as_json)


@limits.command("list")
def show(app: MaybeApp = None, database: Database = None, as_json: AsJson = False) -> None:
    """List holds and limits set by operators; with --app also limits declared by its handlers."""
    engine = open_existing(database) if app is None else load_existing(app, database)
    found, holds = engine.limits.all(), engine.limits.holds()
    if as_json:
        listed = items(camel(one) for one in found)
        show_json({**listed, "holds": [hold_json(one) for one in holds]})
        return
    if found:
        columns = ("kind", "for", "limit", "set by")
        show_table(columns, [_row(one) for one in found])
    elif not holds:
        typer.echo("no limits are set; pass --app to include those that handlers declare")
    show_holds(holds)


limits.command("hold")(hold)
limits.command("release")(release)


@limits.command("set")
def put(
    kind: Kind,
    running: Running = None,
    rate: Rate = None,
    per: Per = 1.0,
    burst: Burst = None,
    each_key: EachKey = False,
    key: LimitKey = None,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Limit a kind, each key within it, or one key. Overrides the handler's limit within 15
    seconds; a limit of one key within one second.
    """
    limit = Limit(running=running, rate=rate, per=per, burst=burst)
    engine = open_existing(database)
    engine.limits.set(kind, limit, key=key, each_key=each_key)
    noted(engine, "limit.set", kind, limit=words(limit), each_key=each_key, key=key)
    _say(KindLimit(kind, limit, each_key, by_operator=True, key=key), as_json=as_json)


@limits.command("forget")
def forget(
    kind: Kind,
    each_key: EachKey = False,
    key: LimitKey = None,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Remove an operator's limit. The handler's own limit applies again."""
    engine = open_existing(database)
    if known := engine.limits.forget(kind, key=key, each_key=each_key):
        noted(engine, "limit.forgotten", kind, each_key=each_key, key=key)
    if as_json:
        show_json({"kind": kind, "key": key, "eachKey": each_key, "forgotten": known})
    else:
        typer.echo(f"{kind}: {'limit removed' if known else 'no limit was set'}")


def _row(one: KindLimit) -> tuple[str, str, str, str]:
    by = "operator" if one.by_operator else "handler"
    what = "each key" if one.each_key else "the kind" if one.key is None else f"key {one.key}"
    return one.kind, what, words(one.limit), by


def _say(one: KindLimit, *, as_json: bool) -> None:
    if as_json:
        show_json(camel(one))
    else:
        key = " (each key)" if one.each_key else "" if one.key is None else f" (key {one.key})"
        typer.echo(f"{one.kind}{key}: {words(one.limit)}")


def words(limit: Limit) -> str:
    """`10 at a time, 50 starts in 60 s (5 at once)`."""
    parts = [] if limit.running is None else [f"{limit.running:,} at a time"]
    if limit.rate is not None:
        period = "a second" if limit.per == 1 else f"in {limit.per:g} s"
        parts.append(f"{limit.rate:g} starts {period} ({limit.bucket:,} at once)")
    return ", ".join(parts)
