"""`tenure hello`: greet somebody, and see who was greeted."""

from __future__ import annotations

import typer

from hello.feature import Hello
from tenure.cli.kit import AsJson, Database, open_engine, open_existing, show_json, show_table

hello = typer.Typer(help="Greet people by jobs.")


@hello.command("greet")
def greet(name: str, database: Database = None) -> None:
    """Greet somebody soon."""
    ref = Hello.of(open_engine(database)).greet.enqueue(name=name)
    typer.echo(f"job {ref.id}")


@hello.command("list")
def show_list(database: Database = None, as_json: AsJson = False) -> None:
    """Whom we greeted most."""
    found = Hello.of(open_existing(database)).greetings()
    if as_json:
        show_json([one._asdict() for one in found])
    else:
        show_table(("name", "times"), found)
