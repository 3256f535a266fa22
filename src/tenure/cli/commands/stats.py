"""`tenure stats`: what the fleet has done lately, once or live."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from tenure.api.kit.shapes.charts import chart_shape
from tenure.app import Tenure
from tenure.cli.kit.durations import span
from tenure.cli.kit.engines import open_existing
from tenure.cli.kit.job_json import plain
from tenure.cli.kit.options import AsJson, Database, Kinds, Queues
from tenure.cli.kit.output import console, show_json
from tenure.cli.kit.sparklines import narrowed, sparkline
from tenure.cli.kit.values import duration
from tenure.core.job import DEAD_LETTERS, State
from tenure.core.rules.rollups import Times, Totals
from tenure.operations.charts import By, Chart
from tenure.stores.contract.parts import Load
from tenure.stores.contract.rollups import RollupFilter

WIDTH = 60
Since = Annotated[
    timedelta | None,
    typer.Option(
        "--since", metavar="DURATION", parser=duration, help="How far back: 24h, 7d.",
        show_default="1h",
    ),
]  # fmt: skip
Group_ = Annotated[By | None, typer.Option("--by", help="Show the totals of each queue or kind.")]
Watch = Annotated[bool, typer.Option("--watch", help="Redraw until interrupted with Ctrl-C.")]
Interval = Annotated[
    float, typer.Option("--interval", metavar="SECONDS", min=0.2, help="Time between two frames.")
]


def stats(
    since: Since = None,
    queue: Queues = None,
    kind: Kinds = None,
    by: Group_ = None,
    watch: Watch = False,
    interval: Interval = 2.0,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Show what the fleet has done: endings, failures, retries, waits and runs."""
    engine, age = open_existing(database), since or timedelta(hours=1)
    where = RollupFilter(
        queues=tuple(queue) if queue else None, kinds=tuple(kind) if kind else None
    )

    def frame() -> RenderableType:
        chart = engine.charts.chart(age, where=where, by=by)
        return drawn(chart, engine.insight.loads(), engine)

    if as_json:
        show_json(plain(chart_shape(engine.charts.chart(age, where=where, by=by))))
    elif watch:
        _watch(frame, interval)
    else:
        console().print(frame())


def _watch(frame: Callable[[], RenderableType], interval: float) -> None:
    """The screen of a terminal; one frame below the other in a pipe."""
    screen = console()
    with suppress(KeyboardInterrupt):
        if not screen.is_terminal:
            while True:
                screen.print(frame())
                time.sleep(interval)
        with Live(frame(), console=screen, screen=True, auto_refresh=False) as live:
            while True:
                time.sleep(interval)
                live.update(frame(), refresh=True)


def drawn(chart: Chart, loads: Sequence[Load], engine: Tenure) -> RenderableType:
    """The chart as lines of text: one sparkline for each measure, then queues and groups."""
    parts: list[RenderableType] = [_lines(chart), Text()]
    if loads:
        parts += [_queues(loads, engine), Text()]
    if chart.groups:
        parts.append(_groups(chart))
    return Group(*parts)


def _lines(chart: Chart) -> Table:
    table = _grid("", f"last {span((chart.until - chart.since).total_seconds())}", "")
    points = [point.totals for point in chart.points]
    total = chart.totals
    ended = [float(sum(one.settled.values())) for one in points]
    failed = [float(_failures(one)) for one in points]
    waits = [1000 * (one.wait.p95 or 0.0) for one in points]
    table.add_row("settled", _spark(ended, "green"), f"{sum(total.settled.values()):,}")
    table.add_row("failed", _spark(failed, "red"), f"{_failures(total):,}")
    table.add_row(
        "retries", _spark([float(one.retries) for one in points], "yellow"), f"{total.retries:,}"
    )
    table.add_row("wait p95", _spark(waits, "cyan"), _times(total.wait))
    table.add_row(
        "run p95", _spark([1000 * (one.run.p95 or 0.0) for one in points], "cyan"),
        _times(total.run),
    )  # fmt: skip
    return table


def _queues(loads: Sequence[Load], engine: Tenure) -> Table:
    now = engine.store.now()
    table = _grid("queue", "queued", "due", "held", "running", "oldest wait")
    for load in loads:
        waited = 0.0
        if load.oldest_run_at is not None:
            waited = max(0.0, (now - load.oldest_run_at).total_seconds())
        table.add_row(
            load.queue, f"{load.queued:,}", f"{load.due:,}", f"{load.held:,}",
            f"{load.running:,}", span(waited) if load.due else "",
        )  # fmt: skip
    return table


def _groups(chart: Chart) -> Table:
    table = _grid("name", "succeeded", "failed", "retries", "wait p95", "run p95")
    for name, totals in chart.groups.items():
        table.add_row(
            name, f"{totals.settled.get(State.SUCCEEDED, 0):,}", f"{_failures(totals):,}",
            f"{totals.retries:,}", _times(totals.wait), _times(totals.run),
        )  # fmt: skip
    return table


def _grid(*columns: str) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    for column in columns:
        table.add_column(column, no_wrap=True)
    return table


def _spark(values: Sequence[float], style: str) -> Text:
    return Text(sparkline(narrowed(values, WIDTH)), style=style)


def _failures(totals: Totals) -> int:
    return sum(totals.settled.get(state, 0) for state in DEAD_LETTERS)


def _times(times: Times) -> str:
    return "" if times.p95 is None else f"{times.p95 * 1000:,.0f} ms"
