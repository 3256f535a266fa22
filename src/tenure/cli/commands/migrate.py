"""`tenure migrate`: bring the tables of the engine and of every feature up to this code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from tenure.cli.kit import errors
from tenure.cli.kit.apps import load_app
from tenure.cli.kit.durations import plural
from tenure.cli.kit.engines import missing_file, open_engine, sql_store
from tenure.cli.kit.options import Database
from tenure.cli.kit.output import note
from tenure.stores.sql.migrations import Migration, Migrations, title
from tenure.stores.sql.schemas import Schemas
from tenure.stores.sql.store import SqlStore

Pending = Sequence[tuple[Migrations, Sequence[Migration]]]
AppToMigrate = Annotated[
    str | None,
    typer.Option("--app", metavar="MODULE:OBJECT",
                 help="Your app, where it includes features that are not installed."),
]  # fmt: skip


def migrate(
    app: AppToMigrate = None,
    database: Database = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the SQL that would run; change nothing.")
    ] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Say what is missing, exit code 1; change nothing.")
    ] = False,
) -> None:
    """Create or update the tables of Tenure and of its features. Safe to run twice, and by two at
    once.
    """
    engine = load_app(app, database) if app else open_engine(database)
    engine.features.load()
    store = sql_store(engine)
    if dry_run or check:
        pending = _pending(store, new_file=missing_file(engine.url) is not None)
        _show_sql(pending, store) if dry_run else _show_names(pending)
        return
    done = store.schemas.apply()
    for migrations, migration in done:
        typer.echo(f"applied {title(migrations, migration)}")
    have = _served_version(store)
    if not done:
        newer = "" if have == store.migrations.latest else ", newer than this code, and serves it"
        typer.echo(f"nothing to do: the schema is at version {have}{newer}")


def _pending(store: SqlStore, *, new_file: bool) -> Pending:
    """What would run. Looking at a SQLite file that is not there would create it."""
    if new_file:
        return [(one, one.all) for one in store.schemas]
    _served_version(store)
    return [(one, one.pending()) for one in store.schemas]


def _show_sql(pending: Pending, store: SqlStore) -> None:
    scripts = [migrations.script(missing) for migrations, missing in pending if missing]
    typer.echo("\n".join(scripts), nl=False)
    count = sum(len(missing) for _, missing in pending)
    note(f"-- {count} to run; the code needs version {store.migrations.latest}")


def _show_names(pending: Pending) -> None:
    """For a deployment: exit code 1 where something is to be run."""
    names = [title(migrations, one) for migrations, missing in pending for one in missing]
    for name in names:
        typer.echo(f"pending {name}")
    if names:
        note(f"{plural(len(names), 'migration')} to run: tenure migrate")
        raise typer.Exit(errors.PROBLEMS)
    typer.echo("nothing is missing")


def _served_version(store: SqlStore) -> int:
    """The schema's version; an error where the tables no longer serve this code."""
    have = 0
    with store.database.raw_connection() as connection:
        for migrations in store.schemas:
            version, serves = migrations.status(connection)
            if migrations.latest < serves:
                raise Schemas.too_old(migrations, serves)
            have = version if not migrations.feature else have
    return have
