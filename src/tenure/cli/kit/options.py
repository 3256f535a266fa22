"""Options that several commands share."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import typer

from tenure.cli.kit.values import moment
from tenure.core.job import State

Database = Annotated[
    str | None,
    typer.Option(
        "--database",
        metavar="URL",
        help="Database URL.",
        show_default="TENURE_DATABASE_URL, else sqlite:///tenure.db",
    ),
]
AppName = Annotated[
    str, typer.Option("--app", metavar="MODULE:OBJECT", help="App to load, such as shop.jobs:app.")
]
MaybeApp = Annotated[
    str | None,
    typer.Option("--app", metavar="MODULE:OBJECT", help="Check kind and payload against this app."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Print how many jobs match; change nothing.")
]
Yes = Annotated[
    bool,
    typer.Option("--yes", "-y", help="Do not ask for confirmation. Required without a terminal."),
]
JobId = Annotated[str, typer.Argument(metavar="ID", help="Job id.")]
JobIds = Annotated[
    list[str] | None,
    typer.Argument(metavar="ID", help="Job ids; or select jobs with the filter options."),
]

States = Annotated[
    list[State] | None, typer.Option("--state", help="Filter by state. May be repeated.")
]
Kinds = Annotated[
    list[str] | None,
    typer.Option("--kind", metavar="KIND", help="Filter by kind. May be repeated."),
]
Queues = Annotated[
    list[str] | None,
    typer.Option("--queue", metavar="NAME", help="Filter by queue. May be repeated."),
]
Tenant = Annotated[str | None, typer.Option("--tenant", metavar="NAME", help="Tenant of the jobs.")]
Owner = Annotated[
    str | None, typer.Option("--owner", metavar="NAME", help="User who owns the jobs.")
]
Key = Annotated[str | None, typer.Option("--key", metavar="KEY", help="Unique key.")]
ErrorGroup = Annotated[
    str | None, typer.Option("--group", metavar="GROUP", help="Error group; see tenure errors.")
]
Words = Annotated[
    str | None,
    typer.Option("--query", "-q", metavar="WORDS", help="Search words; see jobs search."),
]
CorrelationId = Annotated[
    str | None, typer.Option("--correlation-id", metavar="ID", help="Correlation id.")
]
CreatedAfter = Annotated[
    datetime | None,
    typer.Option(
        "--created-after",
        metavar="TIME",
        parser=moment,
        help="Created after this ISO 8601 time, or 2h for two hours ago.",
    ),
]
CreatedBefore = Annotated[
    datetime | None,
    typer.Option(
        "--created-before",
        metavar="TIME",
        parser=moment,
        help="Created before this ISO 8601 time, or 7d for seven days ago.",
    ),
]
