"""`tenure tick`: run one tick within its budgets and print the report."""

from __future__ import annotations

from typing import Annotated

import typer

from tenure.cli.kit.apps import load_app
from tenure.cli.kit.errors import PROBLEMS
from tenure.cli.kit.options import AppName, AsJson, Database
from tenure.cli.kit.output import show_json, show_table

Runners = Annotated[
    str | None,
    typer.Option(
        "--runners",
        metavar="NAMES",
        help="Run these only, in this order: jobs, schedules, outbox, pruning or the name of a "
        "schedule, comma-separated. Overrides WORKER_TICK_RUNNERS.",
    ),
]


def tick(
    app: AppName,
    database: Database = None,
    runners: Runners = None,
    as_json: AsJson = False,
) -> None:
    """Run due jobs and schedules once, within the WORKER_TICK_* budgets, then exit.

    The exit code is 1 if a runner failed.
    """
    from tenure.worker import Worker
    from tenure.worker.settings import WorkerSettings

    engine = load_app(app, database)
    engine.store.now()
    asked = {} if runners is None else {"tick_runners": runners}
    report = Worker(engine, settings=WorkerSettings.model_validate(asked)).tick()
    if as_json:
        show_json(report.to_dict())
    else:
        rows = [
            (one.name, one.processed, f"{one.seconds:.3f}",
             "" if one.failure is None else f"{one.failure.type}: {one.failure.message}")
            for one in report.runners
        ]  # fmt: skip
        rows += [(name, 0, "", "skipped: the budget was spent") for name in report.skipped]
        show_table(("runner", "processed", "seconds", "error"), rows)
    if report.failed:
        raise typer.Exit(PROBLEMS)
