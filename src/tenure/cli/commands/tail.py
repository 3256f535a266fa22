"""`tenure jobs tail`: follow the log lines, progress and state of a job until it ends."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Annotated

import typer

from tenure.app import Tenure
from tenure.cli.kit.engines import open_existing
from tenure.cli.kit.errors import PROBLEMS
from tenure.cli.kit.job_json import last_error
from tenure.cli.kit.options import Database, JobId
from tenure.core.job import Job
from tenure.jobs.blocking import pauses
from tenure.stores.contract import LogLine

LINES_AT_ONCE = 500
A_YEAR = 366 * 86_400.0  # "no timeout", for a loop that needs a number


def tail(
    job_id: JobId,
    database: Database = None,
    follow: Annotated[
        bool, typer.Option("--follow/--no-follow", help="Wait for more lines until the job ends.")
    ] = True,
    timeout: Annotated[
        float | None,
        typer.Option(
            "--timeout",
            metavar="SECONDS",
            min=0,
            help="Stop waiting after this time, with exit code 1.",
        ),
    ] = None,
) -> None:
    """Follow a job: print its log lines, progress and state until it ends."""
    engine = open_existing(database)
    printed = Printed(engine)
    job = printed.update(job_id)
    if not follow:
        return
    for pause in pauses(A_YEAR if timeout is None else timeout):
        if job.state.final:
            return
        time.sleep(pause)
        job = printed.update(job_id)
    if not job.state.final:
        raise typer.Exit(PROBLEMS)


class Printed:
    """Prints what is new about a job, and remembers what it has printed."""

    def __init__(self, engine: Tenure) -> None:
        self._engine = engine
        self._last: str | None = None
        self._state = ""
        self._progress = ""

    def update(self, job_id: str) -> Job:
        """Print what is new."""
        # Read the job before its lines: a job seen as final then has no line still to come.
        job = self._engine.get(job_id)
        while news := self._engine.insight.logs(job_id, LINES_AT_ONCE, self._last):
            self._last = news[-1].id
            print_lines(news)
        self._print_progress(job)
        self._print_state(job)
        return job

    def _print_progress(self, job: Job) -> None:
        if job.progress is None:
            return
        progress = f"{job.progress:.0%} {job.progress_note or ''}".rstrip()
        if progress != self._progress:
            self._progress = progress
            typer.echo(f"-- {progress}")

    def _print_state(self, job: Job) -> None:
        state = f"{job.state}, run {job.attempt} of {job.max_attempts}"
        if state == self._state:
            return
        self._state = state
        error = last_error(self._engine.insight.history(job))
        cause = f": {error['type']}: {error['message']}" if error else ""
        typer.echo(f"-- job {job.id} ({job.kind}) is {state}{cause}")


def print_lines(lines: Iterable[LogLine]) -> None:
    """Print the time, the level unless it is info, and the message."""
    for line in lines:
        at = "" if line.at is None else f"{line.at:%H:%M:%S}  "
        level = "" if line.level == "info" else f"{line.level}: "
        typer.echo(f"{at}{level}{line.message}")
