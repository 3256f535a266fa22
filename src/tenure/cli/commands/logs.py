"""`tenure jobs logs`: the log lines of a job, all of them or page by page."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Annotated

import typer

from tenure.app import Tenure
from tenure.cli.commands.tail import LINES_AT_ONCE, print_lines
from tenure.cli.kit.engines import open_existing
from tenure.cli.kit.job_json import log_line
from tenure.cli.kit.options import AsJson, Database, JobId
from tenure.cli.kit.output import note, show_json, to_json
from tenure.stores.contract import LogLine

Limit = Annotated[
    int | None,
    typer.Option(
        "--limit", min=1, help="Maximum number of lines.", show_default="all; 500 with --json"
    ),
]
Cursor = Annotated[
    str | None, typer.Option("--cursor", metavar="CURSOR", help="Continue from this cursor.")
]
AsLines = Annotated[bool, typer.Option("--jsonl", help="Stream one JSON object per line.")]


def logs(
    job_id: JobId,
    database: Database = None,
    limit: Limit = None,
    cursor: Cursor = None,
    as_json: AsJson = False,
    as_lines: AsLines = False,
) -> None:
    """Print the log lines of a job, oldest first."""
    engine = open_existing(database)
    engine.get(job_id)
    if as_json:
        _show_page(engine, job_id, limit or LINES_AT_ONCE, cursor)
        return
    last, left = None, _every(engine, job_id, cursor)
    for last in islice(left, limit):
        if as_lines:
            typer.echo(to_json(log_line(last)))
        else:
            print_lines([last])
    if next(left, None) is not None and last is not None:
        note(f"more lines: --cursor {last.id}")


def _show_page(engine: Tenure, job_id: str, limit: int, cursor: str | None) -> None:
    found = engine.insight.logs(job_id, limit + 1, cursor)
    more = found[limit - 1].id if len(found) > limit else None
    show_json({"items": [log_line(line) for line in found[:limit]], "next": more})


def _every(engine: Tenure, job_id: str, after: str | None) -> Iterator[LogLine]:
    while found := engine.insight.logs(job_id, LINES_AT_ONCE, after):
        yield from found
        after = found[-1].id
