"""`tenure up`: API, dashboard and worker in one process. The default database is SQLite."""

from __future__ import annotations

from typing import Annotated

import typer

from tenure.app import Tenure
from tenure.cli.commands.api import Host, Port, check_installed, settings_of
from tenure.cli.commands.worker import Order, apart, check_store
from tenure.cli.kit.apps import load_app
from tenure.cli.kit.listening_socket import bound
from tenure.cli.kit.log_output import watching
from tenure.cli.kit.options import Database
from tenure.cli.up.worker_processes import crew
from tenure.core.errors import UsageError
from tenure.settings import Settings

SAMPLE_APP = "tenure.cli.up.sample_app:app"


class NoSample(UsageError):
    """Sample jobs exist for the sample app only."""

    code = "no_sample"

    def __init__(self, app: str) -> None:
        super().__init__(
            f"--demo works with the built-in sample app only; remove --demo or --app {app}"
        )


def up(
    app: Annotated[
        str | None,
        typer.Option("--app", metavar="MODULE:OBJECT", show_default="a sample app",
                     help="App to run, such as shop.jobs:app."),
    ] = None,
    database: Database = None,
    host: Host = None,
    port: Port = None,
    workers: Annotated[
        int,
        typer.Option("--workers", metavar="N", min=0, max=512,
                     help="Separate worker processes. 0 runs the worker in this process."),
    ] = 0,
    demo: Annotated[bool, typer.Option("--demo", help="Add a few sample jobs.")] = False,
    no_open: Annotated[bool, typer.Option("--no-open", help="Do not open a browser.")] = False,
) -> None:  # fmt: skip
    """Start the HTTP API, the dashboard and a worker in one process.

    Ctrl-C stops it after running jobs have finished.
    A second Ctrl-C returns them to the queue at once.
    """
    check_installed()
    if demo and app is not None:
        raise NoSample(app)
    order = Order(app=app or SAMPLE_APP, database=database, concurrency=None,
                  lease_seconds=None, queues=[], quiet=False)  # fmt: skip
    # Read before load_app, which puts --database into the environment.
    settings, usual = settings_of(host=host, port=port), Settings().database_url
    if workers and (code := apart(lambda: prepare(order, settings.host))):
        raise typer.Exit(code)
    with (
        bound(settings.host, settings.port) as listening,
        crew(order, workers, listening) as beside,
    ):
        from tenure.cli.up.server import serve
        from tenure.cli.up.welcome import welcome

        engine = prepare(order, settings.host)
        if demo:
            add_sample(engine)
        with watching(engine, quiet=False, metrics=None):
            greet = welcome(engine, listening, may_open=not no_open, usual=usual)
            raise typer.Exit(serve(engine, beside, listening, greet))


def prepare(order: Order, host: str) -> Tenure:
    """The app. Fails if the schema is out of date or the address is open to strangers."""
    from tenure.api.kit.identity import check_binding

    engine = load_app(order.app, order.database)
    check_store(engine)
    check_binding(host, engine)
    return engine


def add_sample(engine: Tenure) -> None:
    """Add the jobs of the dashboard's button: some succeed, some fail, one is slow, one waits."""
    from tenure.api.kit.shapes.jobs import NewJobInput
    from tenure.dashboard import sample_jobs

    for job in map(NewJobInput.model_validate, sample_jobs()):
        engine.enqueue(job.kind, job.payload, **job.options())
