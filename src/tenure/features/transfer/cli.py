"""`tenure move`: all jobs, and all that belongs to them, into another database."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from tenure.app import Tenure
from tenure.cli.kit.durations import plural
from tenure.cli.kit.engines import missing_file, require_file
from tenure.cli.kit.options import AsJson
from tenure.cli.kit.output import show_json, show_table
from tenure.cli.kit.progress import phase_bars
from tenure.cli.kit.values import duration
from tenure.core.errors import OptionError
from tenure.feature import Feature
from tenure.features.transfer import End, Options, Report, Transfer, open_end, reopen

COLUMNS = ("table", "rows", "added", "replaced", "removed", "same", "checksum")
From = Annotated[str | None, typer.Option("--from", metavar="URL", help="Source database.")]
To = Annotated[str | None, typer.Option("--to", metavar="URL", help="An empty database.")]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Say what would be moved, or refused; change nothing.")
]
IntoExisting = Annotated[
    bool,
    typer.Option(
        "--into-existing",
        help="Add to what the target has, in one transaction; a row that both have is refused.",
    ),
]
LeaveOpen = Annotated[
    bool,
    typer.Option(
        "--leave-open",
        help="Rehearsal: keep the source open. Workers on both run jobs twice.",
    ),
]
VerifyOnly = Annotated[bool, typer.Option("--verify-only", help="Compare the two; move nothing.")]
Wait = Annotated[
    timedelta | None,
    typer.Option(
        "--wait",
        metavar="DURATION",
        parser=duration,
        help="Wait this long for workers to stop: 2m.",
    ),
]
Reopen = Annotated[
    str | None,
    typer.Option("--reopen", metavar="URL", help="Use a database again that was moved away."),
]


def move(
    source: From = None,
    target: To = None,
    dry_run: DryRun = False,
    into_existing: IntoExisting = False,
    leave_open: LeaveOpen = False,
    verify_only: VerifyOnly = False,
    wait: Wait = None,
    reopen: Reopen = None,
    as_json: AsJson = False,
) -> None:
    """Move everything from one database to another: jobs, history, keys, schedules, records.

    Ids stay. Killed in the middle, the same command goes on. At the end both sides are counted
    and compared, the source is closed, and the target may be used.
    """
    if reopen is not None:
        _reopen(reopen, as_json=as_json)
        return
    if source is None or target is None:
        raise OptionError("tenure move needs --from URL and --to URL")
    options = Options(
        into_existing=into_existing,
        leave_open=leave_open,
        wait_seconds=wait.total_seconds() if wait else 0.0,
    )
    if verify_only:
        require_file(target)
    features = features_with_tables()
    packages = {feature.name: str(feature.tables) for feature in features}
    with _source(source, packages) as one, _target(target, dry_run, packages) as other:
        transfer = Transfer(one, other, options)
        there = [feature for feature in features if feature.name in one.features]
        transfer.beside = partial(_beside, there, source, target)
        report = _run(transfer, dry_run=dry_run, verify_only=verify_only)
    if as_json:
        show_json(report.to_dict())
    else:
        _show(report)


def _reopen(url: str, *, as_json: bool) -> None:
    with _source(url, {}) as end:
        reopen(end)
    if as_json:
        show_json({"open": True})
    else:
        typer.echo("open again; make sure that nobody works on the database that it was moved to")


@contextmanager
def _source(url: str, packages: Mapping[str, str]) -> Iterator[End]:
    require_file(url)
    with open_end(url, packages) as end:
        yield end


@contextmanager
def _target(url: str, dry_run: bool, packages: Mapping[str, str]) -> Iterator[End]:
    """Looking at a SQLite file that is not there would create it."""
    with TemporaryDirectory(prefix="tenure-") as folder:
        missing = dry_run and missing_file(url) is not None
        chosen = f"sqlite:///{Path(folder) / 'none.db'}" if missing else url
        with open_end(chosen, packages) as end:
            yield end


def features_with_tables() -> list[Feature]:
    """Of the installed ones."""
    found = Tenure("sqlite:///tenure.db").features
    return [feature for feature in found if feature.tables is not None]


def _beside(features: list[Feature], source: str, target: str, dry_run: bool) -> list[str]:
    """Let the features whose tables the source has copy what is not in the database."""
    said = [one.move_beside(source, target, dry_run=dry_run) for one in features]
    return [sentence for sentence in said if sentence]


def _run(transfer: Transfer, *, dry_run: bool, verify_only: bool) -> Report:
    if dry_run:
        return transfer.look()
    total = sum(transfer.source.counts().values())
    with phase_bars(("verify",) if verify_only else ("move", "verify"), total) as transfer.watch:
        return transfer.verify_only() if verify_only else transfer.run()


def _show(report: Report) -> None:
    tables = [table for table in report.tables if table.rows or table.removed]
    if report.dry_run:
        show_table(COLUMNS[:2], [(table.table, f"{table.rows:,}") for table in tables])
        typer.echo(f"would move {plural(report.rows, 'row')}; nothing was changed")
        _show_beside(report)
        return
    show_table(COLUMNS, [tuple(table.to_dict().values()) for table in tables])
    if report.move_seconds:
        rate = report.written / report.move_seconds
        took = f"{report.move_seconds:.1f} s ({rate:,.0f} rows/s)"
        typer.echo(f"wrote {plural(report.written, 'row')} in {took}")
    same = plural(report.rows, "row")
    typer.echo(f"verified: {same} are the same on both sides, in {report.verify_seconds:.1f} s")
    _show_beside(report)
    if report.source_closed:
        typer.echo("the source is closed; give every program the new TENURE_DATABASE_URL")


def _show_beside(report: Report) -> None:
    for sentence in report.beside:
        typer.echo(sentence)
