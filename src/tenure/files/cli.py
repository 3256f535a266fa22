"""`tenure files`: list, get, put and purge files."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from tenure.cli.kit import (
    AsJson,
    Database,
    Tenant,
    ago,
    note,
    open_existing,
    plural,
    show_json,
    show_table,
)
from tenure.core.errors import OptionError
from tenure.core.scope import Scope
from tenure.files.files import Files
from tenure.files.purge import Purge
from tenure.files.stored_file import StoredFile

files = typer.Typer(help="List, get, put and purge files.", no_args_is_help=True)
FileId = Annotated[str, typer.Argument(metavar="ID", help="The file's id.")]
COLUMNS = ("id", "name", "type", "bytes", "tenant", "created")
CHUNK = 100


@files.command("list")
def show_all(
    database: Database = None,
    tenant: Tenant = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many to show.")] = 50,
    as_json: AsJson = False,
) -> None:
    """The newest files."""
    engine = open_existing(database)
    found = Files.of(engine).page(Scope(tenant), limit=limit).rows
    if as_json:
        show_json([shape(file) for file in found])
        return
    if not found:
        typer.echo("no files")
        return
    now = engine.store.now()
    show_table(
        COLUMNS,
        [
            (file.id, file.name, file.media_type, file.size, file.tenant,
             ago(file.created_at, now))
            for file in found
        ],
    )  # fmt: skip


@files.command("get")
def get(
    file_id: FileId,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where to write it; - for stdout.")
    ] = None,
    database: Database = None,
) -> None:
    """Write a file's bytes to disk, under its own name unless another is given."""
    room = Files.of(open_existing(database))
    file = room.get(file_id)
    if output == Path("-"):
        for part in room.read(file):
            sys.stdout.buffer.write(part)
        return
    target = output or Path(file.name)
    if target.exists():
        raise OptionError(f"{target} exists; name another file with --output")
    if not target.parent.is_dir():
        raise OptionError(f"there is no folder {target.parent}")
    with target.open("xb") as written:
        for part in room.read(file):
            written.write(part)
    note(f"wrote {file.size:,} bytes to {target}")


@files.command("put")
def put(
    path: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="The file to keep.")],
    name: Annotated[str | None, typer.Option(help="Another name than the file's own.")] = None,
    media_type: Annotated[str | None, typer.Option("--type", help="Its media type.")] = None,
    tenant: Tenant = None,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Keep a file; prints its id."""
    room = Files.of(open_existing(database))
    with path.open("rb") as data:
        file = room.put(data, name=name or path.name, media_type=media_type, tenant=tenant or "")
    if as_json:
        show_json(shape(file))
    else:
        typer.echo(file.id)


@files.command("purge")
def purge(
    stray: Annotated[
        bool, typer.Option("--stray", help="Also delete stored bytes that no row knows.")
    ] = False,
    database: Database = None,
) -> None:
    """Delete what nobody needs now; workers do the same as part of pruning."""
    room = Files.of(open_existing(database))
    done = 0
    while part := room.prune(CHUNK):
        done += part
    note(f"{plural(done, 'step')} of deleting done")
    if stray:
        note(f"{plural(Purge(room).stray_bytes(), 'stray blob')} deleted")


def shape(file: StoredFile) -> dict[str, Any]:
    """As the API shows it."""
    from tenure.files.shapes import file_shape

    return file_shape(file).model_dump(mode="json", by_alias=True)
