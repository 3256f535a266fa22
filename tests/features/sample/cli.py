"""Commands of the guestbook."""

from __future__ import annotations

import typer

from tenure.cli.kit import AsJson, Database, open_existing, show_json, show_table
from tests.features.sample.feature import Guestbook

guestbook = typer.Typer(help="See who signed.")


@guestbook.command("list")
def show_list(database: Database = None, as_json: AsJson = False) -> None:
    """Newest first."""
    found = Guestbook.of(open_existing(database)).entries()
    if as_json:
        show_json([one._asdict() for one in found])
    else:
        show_table(("id", "name", "words"), [(one.id, one.name, one.words) for one in found])


@guestbook.command("show")
def show_one(id: int, database: Database = None) -> None:
    """One entry."""
    typer.echo(Guestbook.of(open_existing(database)).entry(id).words)
