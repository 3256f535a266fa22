"""`tenure tenants`: weights and caps of tenants."""

from __future__ import annotations

from typing import Annotated

import typer

from tenure.cli.commands.job_moves import noted
from tenure.cli.kit.engines import open_existing
from tenure.cli.kit.job_json import items
from tenure.cli.kit.options import AsJson, Database
from tenure.cli.kit.output import show_json, show_table

tenants = typer.Typer(
    help="List and set the weights of tenants and how many of their jobs may run at a time."
)
Name = Annotated[str, typer.Argument(metavar="TENANT", help="Name of the tenant.")]
Jobs = Annotated[int, typer.Argument(metavar="JOBS", help="Jobs that may run at a time.")]
Weight = Annotated[
    float, typer.Argument(metavar="WEIGHT", help="Share of the slots; the default is 1.")
]


@tenants.callback(invoke_without_command=True)
def root(context: typer.Context, database: Database = None, as_json: AsJson = False) -> None:
    """List the tenants if no subcommand is given."""
    if context.invoked_subcommand is None:
        show(database, as_json=as_json)


@tenants.command("list")
def show(database: Database = None, as_json: AsJson = False) -> None:
    """List tenants that have a cap or a weight other than 1."""
    known = open_existing(database).tenants
    weights, caps = known.weights(), known.caps()
    names = sorted(weights.keys() | caps.keys())
    found = [(name, weights.get(name, 1.0), caps.get(name)) for name in names]
    if as_json:
        show_json(items(dict(zip(("tenant", "weight", "cap"), one, strict=True)) for one in found))
    elif not found:
        typer.echo("every tenant has weight 1 and no cap")
    else:
        shown = [(name or "(none)", weight, cap or "-") for name, weight, cap in found]
        show_table(("tenant", "weight", "at a time"), shown)


@tenants.command("weigh")
def weigh(name: Name, weight: Weight, database: Database = None, as_json: AsJson = False) -> None:
    """Set the weight of a tenant. Weight 3 gets three times the slots of weight 1."""
    engine = open_existing(database)
    engine.tenants.weigh(name, weight)
    noted(engine, "tenant.weighed", name, weight=weight)
    _say(name, weight, as_json=as_json)


@tenants.command("forget")
def forget(name: Name, database: Database = None, as_json: AsJson = False) -> None:
    """Reset the weight of a tenant to 1."""
    engine = open_existing(database)
    if engine.tenants.forget(name):
        noted(engine, "tenant.weighed", name, weight=1.0)
    _say(name, 1.0, as_json=as_json)


@tenants.command("cap")
def cap(name: Name, jobs: Jobs, database: Database = None, as_json: AsJson = False) -> None:
    """Limit how many jobs of a tenant run at a time, over all workers."""
    engine = open_existing(database)
    engine.tenants.cap(name, jobs)
    noted(engine, "tenant.capped", name, jobs=jobs)
    _say_cap(name, jobs, as_json=as_json)


@tenants.command("uncap")
def uncap(name: Name, database: Database = None, as_json: AsJson = False) -> None:
    """Remove the cap of a tenant."""
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
        typer.echo(f"tenant {name} has weight {weight:g}")
