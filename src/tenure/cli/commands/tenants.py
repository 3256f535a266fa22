"""`tenure tenants`: how tenants share the slots, and how many each may have."""

from __future__ import annotations

from typing import Annotated

import typer

from tenure.cli.commands.job_moves import noted
from tenure.cli.kit.engines import open_existing
from tenure.cli.kit.job_json import items
from tenure.cli.kit.options import AsJson, Database
from tenure.cli.kit.output import show_json, show_table

tenants = typer.Typer(
    help="See and set what tenants weigh, and how many of their jobs run at a time."
)
Name = Annotated[str, typer.Argument(metavar="TENANT", help="The tenant.")]
Jobs = Annotated[int, typer.Argument(metavar="JOBS", help="How many may run at a time.")]
Weight = Annotated[float, typer.Argument(metavar="WEIGHT", help="Its share; others weigh 1.")]


@tenants.callback(invoke_without_command=True)
def root(context: typer.Context, database: Database = None, as_json: AsJson = False) -> None:
    """Without a command: the list."""
    if context.invoked_subcommand is None:
        show(database, as_json=as_json)


@tenants.command("list")
def show(database: Database = None, as_json: AsJson = False) -> None:
    """Tenants that do not weigh 1, or have a cap."""
    known = open_existing(database).tenants
    weights, caps = known.weights(), known.caps()
    names = sorted(weights.keys() | caps.keys())
    found = [(name, weights.get(name, 1.0), caps.get(name)) for name in names]
    if as_json:
        show_json(items(dict(zip(("tenant", "weight", "cap"), one, strict=True)) for one in found))
    elif not found:
        typer.echo("every tenant weighs 1, and none has a cap")
    else:
        shown = [(name or "(none)", weight, cap or "-") for name, weight, cap in found]
        show_table(("tenant", "weight", "at a time"), shown)


@tenants.command("weigh")
def weigh(name: Name, weight: Weight, database: Database = None, as_json: AsJson = False) -> None:
    """Within a priority, a tenant of weight 3 gets three times the share of one of weight 1."""
    engine = open_existing(database)
    engine.tenants.weigh(name, weight)
    noted(engine, "tenant.weighed", name, weight=weight)
    _say(name, weight, as_json=as_json)


@tenants.command("forget")
def forget(name: Name, database: Database = None, as_json: AsJson = False) -> None:
    """Let it weigh 1 again."""
    engine = open_existing(database)
    if engine.tenants.forget(name):
        noted(engine, "tenant.weighed", name, weight=1.0)
    _say(name, 1.0, as_json=as_json)


@tenants.command("cap")
def cap(name: Name, jobs: Jobs, database: Database = None, as_json: AsJson = False) -> None:
    """No more than so many of its jobs run at a time, in the whole fleet."""
    engine = open_existing(database)
    engine.tenants.cap(name, jobs)
    noted(engine, "tenant.capped", name, jobs=jobs)
    _say_cap(name, jobs, as_json=as_json)


@tenants.command("uncap")
def uncap(name: Name, database: Database = None, as_json: AsJson = False) -> None:
    """As many as there are slots."""
    engine = open_existing(database)
    if engine.tenants.uncap(name):
        noted(engine, "tenant.uncapped", name)
    _say_cap(name, None, as_json=as_json)


def _say_cap(name: str, jobs: int | None, *, as_json: bool) -> None:
    if as_json:
        show_json({"tenant": name, "cap": jobs})
    else:
        said = "has no cap" if jobs is None else f"runs at most {jobs:,} jobs at a time"
        typer.echo(f"tenant {name} {said}")


def _say(name: str, weight: float, *, as_json: bool) -> None:
    if as_json:
        show_json({"tenant": name, "weight": weight})
    else:
        typer.echo(f"tenant {name} weighs {weight:g}")
