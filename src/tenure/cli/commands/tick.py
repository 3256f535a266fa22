"""`tenure tick`: run one tick within its budgets and print the report."""

from __future__ import annotations

import typer

from tenure.cli.kit.apps import load_app
from tenure.cli.kit.errors import PROBLEMS
from tenure.cli.kit.options import AppName, AsJson, Database
from tenure.cli.kit.output import show_json, show_table


def tick(app: AppName, database: Database = None, as_json: AsJson = False) -> None:
    """Run due jobs and schedules once, within the WORKER_TICK_* budgets, then exit.

    The exit code is 1 if a runner failed.
    """
    from tenure.worker import Worker

    engine = load_app(app, database)
    engine.store.now()
    report = Worker(engine).tick()
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
