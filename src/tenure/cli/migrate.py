"""`tenure migrate`: bring the schema up to this code."""

from __future__ import annotations

from typing import Annotated

import typer

from tenure.cli.engines import missing_file, open_engine, sql_store
from tenure.cli.options import Database
from tenure.cli.output import note


def migrate(
    database: Database = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the SQL that would run; change nothing.")
    ] = False,
) -> None:
    """Create or update Tenure's tables. Safe to run twice, and by two at once."""
    engine = open_engine(database)
    migrations = sql_store(engine).migrations
    if dry_run:
        # Looking at a SQLite file that is not there would create it.
        pending = migrations.all if missing_file(engine.url) else migrations.pending()
        typer.echo(migrations.script(pending), nl=False)
        note(f"-- {len(pending)} to run; the code needs version {migrations.latest}")
        return
    done = migrations.apply()
    for migration in done:
        typer.echo(f"applied {migration.version:04d}_{migration.name}")
    if not done:
        typer.echo(f"nothing to do: the schema is at version {migrations.latest}")
