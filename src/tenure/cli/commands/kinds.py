"""`tenure kinds`: the kinds of jobs that workers have published."""

from __future__ import annotations

import typer

from tenure.api.kit.shapes.charts import kind_shape
from tenure.cli.commands.limits import words
from tenure.cli.kit.durations import ago
from tenure.cli.kit.engines import open_existing
from tenure.cli.kit.job_json import items, plain
from tenure.cli.kit.options import AsJson, Database
from tenure.cli.kit.output import show_json, show_table
from tenure.core.job import DEAD_LETTERS
from tenure.core.rules.rollups import Totals
from tenure.operations.kinds import KindView
from tenure.operations.kinds import kinds as kinds_of

COLUMNS = (
    "kind", "queue", "workers", "seen", "last hour", "failed", "run p95", "limit", "arguments",
)  # fmt: skip


def kinds(database: Database = None, as_json: AsJson = False) -> None:
    """List the kinds that workers run, with their last hour, limits and arguments."""
    engine = open_existing(database)
    found = kinds_of(engine.store, engine.published, engine.insight, engine.limits)
    if as_json:
        show_json(items(plain(kind_shape(one)) for one in found))
    elif not found:
        typer.echo("no worker has published a handler yet; start one: tenure worker --app M:O")
    else:
        now = engine.store.now()
        show_table(COLUMNS, [_row(one, ago(one.handler.seen_at, now)) for one in found])


def _row(view: KindView, seen: str) -> tuple[object, ...]:
    handler, hour = view.handler, view.last_hour
    return (
        handler.kind,
        handler.queue,
        view.workers,
        seen,
        f"{sum(hour.settled.values()):,}",
        _failed(hour),
        "" if hour.run.p95 is None else f"{hour.run.p95 * 1000:,.0f} ms",
        "" if view.limit is None else words(view.limit.limit),
        ", ".join((handler.arguments or {}).get("properties", {})),
    )


def _failed(hour: Totals) -> str:
    ended = sum(hour.settled.values())
    failed = sum(hour.settled.get(state, 0) for state in DEAD_LETTERS)
    return f"{failed / ended:.1%}" if failed else ""
