"""`tenure tenants`: how tenants share the slots."""

from __future__ import annotations

from typing import Annotated

import typer

from tenure.cli.engines import open_existing
from tenure.cli.options import AsJson, Database
from tenure.cli.output import show_json, show_table

tenants = typer.Typer(help="See and set what tenants weigh against each other.")
Name = Annotated[str, typer.Argument(metavar="TENANT", help="The tenant.")]
Weight = Annotated[float, typer.Argument(metavar="WEIGHT", help="Its share; others weigh 1.")]


@tenants.callback(invoke_without_command=True)
def root(context: typer.Context, database: Database = None, as_json: AsJson = False) -> None:
    """Without a command: the list."""
    if context.invoked_subcommand is None:
        show(database, as_json=as_json)


@tenants.command("list")
def show(database: Database = None, as_json: AsJson = False) -> None:
    """Tenants that do not weigh 1."""
    found = open_existing(database).tenants.weights()
    if as_json:
        show_json([{"tenant": name, "weight": weight} for name, weight in found.items()])
    elif not found:
        typer.echo("every tenant weighs 1")
    else:
        show_table(("tenant", "weight"), [(name or "(none)", w) for name, w in found.items()])


@tenants.command("weigh")
def weigh(name: Name, weight: Weight, database: Database = None, as_json: AsJson = False) -> None:
    """Within a priority, a tenant of weight 3 gets three times the share of one of weight 1."""
    open_existing(database).tenants.weigh(name, weight)
    _say(name, weight, as_json=as_json)


@tenants.command("forget")
def forget(name: Name, database: Database = None, as_json: AsJson = False) -> None:
    """Let it weigh 1 again."""
    open_existing(database).tenants.forget(name)
    _say(name, 1.0, as_json=as_json)


def _say(name: str, weight: float, *, as_json: bool) -> None:
    if as_json:
        show_json({"tenant": name, "weight": weight})
    else:
        typer.echo(f"tenant {name} weighs {weight:g}")
