"""`tenure migrate`: bring the schema up to this code."""

from __future__ import annotations

from typing import Annotated

import typer

from tenure.cli.kit.engines import missing_file, open_engine, sql_store
from tenure.cli.kit.options import Database
from tenure.cli.kit.output import note
from tenure.core.errors import CodeTooOld
from tenure.stores.sql.store import SqlStore


def migrate(
    database: Database = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the SQL that would run; change nothing.")
    ] = False,
) -> None:
    """Create or update Tenure's tables. Safe to run twice, and by two at once."""
    engine = open_engine(database)
    store = sql_store(engine)
    if dry_run:
        _preview(store, new_file=missing_file(engine.url) is not None)
        return
    done = store.migrations.apply()
    for migration in done:
        typer.echo(f"applied {migration.version:04d}_{migration.name}")
    have = _served_version(store)
    if not done:
        newer = "" if have == store.migrations.latest else ", newer than this code, and serves it"
        typer.echo(f"nothing to do: the schema is at version {have}{newer}")


def _preview(store: SqlStore, *, new_file: bool) -> None:
    """Looking at a SQLite file that is not there would create it."""
    migrations = store.migrations
    if not new_file:
        _served_version(store)
    pending = migrations.all if new_file else migrations.pending()
    typer.echo(migrations.script(pending), nl=False)
    note(f"-- {len(pending)} to run; the code needs version {migrations.latest}")


def _served_version(store: SqlStore) -> int:
    """The schema's version; an error where it no longer serves this code."""
    with store.database.raw_connection() as connection:
        have, serves = store.migrations.status(connection)
    if store.migrations.latest < serves:
        raise CodeTooOld(store.migrations.latest, serves)
    return have
