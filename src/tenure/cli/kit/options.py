"""Options that several commands share, each written once."""

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
        help="The database; else TENURE_DATABASE_URL, else sqlite:///tenure.db.",
    ),
]
AppName = Annotated[
    str, typer.Option("--app", metavar="MODULE:OBJECT", help="Where the app is: shop.jobs:app.")
]
MaybeApp = Annotated[
    str | None,
    typer.Option("--app", metavar="MODULE:OBJECT", help="Check kind and payload with this app."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Only JSON on stdout, for programs.")]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Say how many jobs it would be; change nothing.")
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask. Needed without a terminal.")]
JobId = Annotated[str, typer.Argument(metavar="ID", help="The job's id.")]
JobIds = Annotated[
    list[str] | None, typer.Argument(metavar="[ID]...", help="Jobs by id; or give a filter.")
]

States = Annotated[
    list[State] | None, typer.Option("--state", help="In this state. May be repeated.")
]
Kinds = Annotated[
    list[str] | None,
    typer.Option("--kind", metavar="KIND", help="Of this kind. May be repeated."),
]
Queues = Annotated[
    list[str] | None,
    typer.Option("--queue", metavar="NAME", help="In this queue. May be repeated."),
]
Tenant = Annotated[str | None, typer.Option("--tenant", metavar="NAME", help="Whose data it is.")]
Owner = Annotated[str | None, typer.Option("--owner", metavar="NAME", help="Who asked for it.")]
Key = Annotated[str | None, typer.Option("--key", metavar="KEY", help="The unique key.")]
CorrelationId = Annotated[
    str | None, typer.Option("--correlation-id", metavar="X", help="What it belongs to.")
]
CreatedAfter = Annotated[
    datetime | None,
    typer.Option(
        "--created-after",
        metavar="TIME",
        parser=moment,
        help="Created since: an ISO time, or 2h for two hours ago.",
    ),
]
CreatedBefore = Annotated[
    datetime | None,
    typer.Option(
        "--created-before",
        metavar="TIME",
        parser=moment,
        help="Created before: an ISO time, or 7d for seven days ago.",
    ),
]
