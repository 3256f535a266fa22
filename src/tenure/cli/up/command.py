"""`tenure up`: API, page and worker in one process; SQLite unless another database is named."""

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
    """The sample jobs belong to the sample app."""

    code = "no_sample"

    def __init__(self, app: str) -> None:
        super().__init__(f"--demo adds jobs of the built-in app, which {app} is not; drop one")


def up(
    app: Annotated[
        str | None,
        typer.Option("--app", metavar="MODULE:OBJECT",
                     help="Where the app is: shop.jobs:app. [default: a small sample app]"),
    ] = None,
    database: Database = None,
    host: Host = None,
    port: Port = None,
    workers: Annotated[
        int,
        typer.Option("--workers", metavar="N", min=0, max=512,
                     help="Worker processes beside the API; 0: the worker is in this one."),
    ] = 0,
    demo: Annotated[bool, typer.Option("--demo", help="Add a few sample jobs.")] = False,
    no_open: Annotated[bool, typer.Option("--no-open", help="Do not open a browser.")] = False,
) -> None:  # fmt: skip
    """Start everything: the HTTP API, a page to look at, and a worker.

    Ctrl-C stops it: running jobs may finish. A second one gives them back at once.
    """
    check_installed()
    if demo and app is not None:
        raise NoSample(app)
    order = Order(app=app or SAMPLE_APP, database=database, concurrency=None,
                  lease_seconds=None, queues=[], quiet=False)  # fmt: skip
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
    """The app on a database that serves it; nobody else reaches it unless we know who asks."""
    from tenure.api.kit.identity import check_binding

    engine = load_app(order.app, order.database)
    check_store(engine)
    check_binding(host, engine)
    return engine


def add_sample(engine: Tenure) -> None:
    """What the page's button adds: some succeed, some fail, one is slow, one waits."""
    from tenure.api.kit.shapes.jobs import NewJobInput
    from tenure.dashboard import sample_jobs

    for job in map(NewJobInput.model_validate, sample_jobs()):
        engine.enqueue(job.kind, job.payload, **job.options())
