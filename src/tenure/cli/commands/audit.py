"""`tenure audit`: the audit log of bulk moves and of changes to queues, schedules and keys."""

from __future__ import annotations

from typing import Annotated

import typer

from tenure.api.kit.shapes.audit import audit_line
from tenure.cli.kit.engines import open_existing
from tenure.cli.kit.job_json import items, plain
from tenure.cli.kit.options import AsJson, Database
from tenure.cli.kit.output import show_json, show_table

Limit = Annotated[int, typer.Option("--limit", min=1, max=500, help="Number of entries.")]
COLUMNS = ("time", "actor", "action", "target", "details")


def audit(limit: Limit = 50, database: Database = None, as_json: AsJson = False) -> None:
    """Show the audit log, newest first. For a single job use: tenure jobs history ID."""
    lines = open_existing(database).operator.audit.page(limit=limit).rows
    if as_json:
        show_json(items(plain(audit_line(line)) for line in lines))
    elif not lines:
        typer.echo("The audit log is empty")
    else:
        rows = [
            (line.at, line.actor, line.action, line.target, _details(line.facts)) for line in lines
        ]
        show_table(COLUMNS, rows)


def _details(facts: object) -> str:
    known = facts if isinstance(facts, dict) else {}
    return " ".join(f"{name}={value}" for name, value in known.items())
