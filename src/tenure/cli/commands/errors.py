"""`tenure errors`: failures in groups, the last seen first."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

import typer

from tenure.api.kit.shapes.charts import error_group_shape
from tenure.cli.kit.durations import ago
from tenure.cli.kit.engines import open_existing
from tenure.cli.kit.job_json import plain
from tenure.cli.kit.options import AsJson, Database, Kinds, Tenant
from tenure.cli.kit.output import note, show_json, show_table
from tenure.cli.kit.sparklines import sparkline
from tenure.cli.kit.values import duration
from tenure.core.rules.error_groups import shown

Since = Annotated[
    timedelta | None,
    typer.Option(
        "--since", metavar="DURATION", parser=duration, help="Seen since: 1h, 24h.",
        show_default="7d",
    ),
]  # fmt: skip
Limit = Annotated[int, typer.Option("--limit", min=1, max=500, help="Number of groups.")]
Cursor = Annotated[
    str | None, typer.Option("--cursor", metavar="CURSOR", help="Continue from this cursor.")
]
COLUMNS = ("group", "kind", "failures", "last 24 h", "last seen", "job", "error")


def errors(
    since: Since = None,
    kind: Kinds = None,
    tenant: Tenant = None,
    limit: Limit = 50,
    cursor: Cursor = None,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """List failures in groups, the last seen first. Replay one: jobs replay --group GROUP."""
    engine = open_existing(database)
    span = since or timedelta(days=7)
    page = engine.charts.errors(span, limit=limit, after=cursor, tenant=tenant, kinds=kind)
    if as_json:
        groups = [plain(error_group_shape(one)) for one in page.rows]
        show_json({"items": groups, "next": page.next})
        return
    if not page.rows:
        typer.echo("no failures")
        return
    now = engine.store.now()
    rows = [
        (
            shown(one.group.group),
            one.group.kind,
            f"{one.group.failures:,}",
            sparkline(one.hours),
            ago(one.group.last_at, now),
            one.group.sample_job,
            f"{one.group.type}: {one.group.message}",
        )
        for one in page.rows
    ]
    show_table(COLUMNS, rows)
    if page.next is not None:
        note(f"more groups: --cursor {page.next}")
