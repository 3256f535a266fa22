"""`tenure doctor`: check the installation and say what to do about each problem."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from tenure.cli.kit import errors
from tenure.cli.kit.engines import open_existing, sql_store
from tenure.cli.kit.options import AsJson, Database
from tenure.cli.kit.output import console, show_json
from tenure.feature.finding import Finding, Level
from tenure.watch.doctor.checks import examine

MARKS = {Level.OK: ("✓", "green"), Level.WARNING: ("!", "yellow"), Level.PROBLEM: ("✗", "bold red")}


def doctor(
    database: Database = None,
    as_json: AsJson = False,
    clock_seconds: Annotated[
        float, typer.Option("--clock-seconds", help="Accepted clock difference to the database.")
    ] = 2.0,
    snapshot_seconds: Annotated[
        float,
        typer.Option("--snapshot-seconds", help="Report transactions open for longer than this."),
    ] = 300.0,
) -> None:
    """Check the installation: database, schema, clock, workers, jobs, features, disk space.

    Exit codes: 0 no problems (there may be warnings); 1 problems found;
    2 wrong usage or bad input; 3 database unavailable.
    """
    try:
        engine = open_existing(database)
        version = sql_store(engine).version()
    except Exception as error:
        if as_json:
            _show_unreachable(error)
        raise
    findings = list(examine(engine, version, clock_seconds, snapshot_seconds))
    worst = max(finding.level for finding in findings)
    if as_json:
        show_json({"status": worst.word, "findings": [one.to_dict() for one in findings]})
    else:
        _show(findings)
    if worst is Level.PROBLEM:
        raise typer.Exit(errors.PROBLEMS)


def _show_unreachable(error: Exception) -> None:
    if (complaint := errors.describe(error)) is not None:
        show_json({"status": "unreachable", "error": complaint.message, "code": complaint.code})


def _show(findings: Sequence[Finding]) -> None:
    """Print each finding, followed by what to do about it."""
    screen = console()
    if not screen.is_terminal:
        typer.echo("\n".join(_lines(findings)))
        return
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True, style="bold")
    table.add_column(overflow="fold")
    for one in findings:
        mark, style = MARKS[one.level]
        table.add_row(Text(mark, style=style), Text(one.subject), Text(one.fact))
        if one.todo:
            table.add_row("", "", Text(f"→ {one.todo}", style=style))
    screen.print(table)
    screen.print(Text(_verdict(findings)))


def _lines(findings: Sequence[Finding]) -> Iterator[str]:
    """Plain lines for a pipe, never wrapped."""
    for one in findings:
        yield f"{one.level.word:<7}  {one.subject:<12}  {one.fact}"
        if one.todo:
            yield f"{'':23}→ {one.todo}"
    yield _verdict(findings)


def _verdict(findings: Sequence[Finding]) -> str:
    problems = sum(one.level is Level.PROBLEM for one in findings)
    warnings = sum(one.level is Level.WARNING for one in findings)
    if not problems:
        return "\nNo problems found." if not warnings else f"\nNo problems, warnings: {warnings}."
    return f"\nProblems found: {problems}."
