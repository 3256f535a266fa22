"""`tenure worker`: run an app's jobs until told to stop."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import Annotated

import typer

from tenure.app import Tenure
from tenure.cli.kit import errors
from tenure.cli.kit.apps import load_app
from tenure.cli.kit.log_output import (
    Address,
    MetricsHost,
    MetricsPort,
    address,
    at,
    serve_metrics,
    voice_of,
    watching,
)
from tenure.cli.kit.options import AppName, Database
from tenure.cli.kit.values import slots
from tenure.core.errors import StoreUnavailable
from tenure.feature.sentence import Sentence
from tenure.watch.settings import WatchSettings

LeaseSeconds = Annotated[
    float | None,
    typer.Option("--lease-seconds", metavar="S", min=0.2, max=86_400,
                 help="A worker silent for so long has lost its jobs. [default: 60]"),
]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What to run, and how."""

    app: str
    database: str | None
    concurrency: int | None
    lease_seconds: float | None
    queues: list[str]
    quiet: bool
    metrics: Address | None = None


def worker(
    app: AppName,
    database: Database = None,
    processes: Annotated[
        int, typer.Option("--processes", metavar="P", min=1, max=512, help="Worker processes.")
    ] = 1,
    concurrency: Annotated[
        int | None,
        typer.Option("--concurrency", metavar="C", min=1, max=10_000,
                     help="Jobs at a time, of each queue and process. [default: 10]"),
    ] = None,
    lease_seconds: LeaseSeconds = None,
    queue: Annotated[
        list[str] | None,
        typer.Option("--queue", metavar="NAME=SLOTS", help="Only these queues. May be repeated."),
    ] = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", help="Say nothing but the worker's own troubles.")
    ] = False,
    metrics_port: MetricsPort = None,
    metrics_host: MetricsHost = "127.0.0.1",
) -> None:  # fmt: skip
    """Run jobs until SIGTERM or SIGINT; a second signal gives everything back at once."""
    order = Order(app=app, database=database, concurrency=concurrency,
                  lease_seconds=lease_seconds, queues=queue or [], quiet=quiet,
                  metrics=address(metrics_host, metrics_port))  # fmt: skip
    slots(order.queues, 1)
    if processes == 1:
        work(order)
        return
    from tenure.worker.supervisor import supervise

    if code := apart(lambda: rehearse(order, processes)):
        raise typer.Exit(code)
    voice = voice_of(WatchSettings(), quiet=quiet)
    voice(Sentence("info", f"supervisor {os.getpid()} starts {processes} worker processes"))
    raise typer.Exit(supervise(lambda place: errors.run(lambda: work(order, place)), processes))


def work(order: Order, place: int = 0) -> None:
    """In this process, until told to stop."""
    from tenure.worker import Worker

    engine = prepare(order)
    default = order.concurrency or engine.settings.concurrency
    one = Worker(engine, concurrency=order.concurrency, queues=slots(order.queues, default))
    gc.collect()
    gc.freeze()  # what the app has imported stays: a process that only works need not look at it
    one.isolate()  # before there is a thread that serves metrics
    with watching(engine, quiet=order.quiet, metrics=at(order.metrics, place)):
        one.run()


def prepare(order: Order) -> Tenure:
    """The app with the order's settings. A database that is away may come; a wrong one does not."""
    engine = load_app(order.app, order.database)
    if order.lease_seconds is not None:
        values = {**engine.settings.model_dump(), "lease_seconds": order.lease_seconds}
        engine.settings = type(engine.settings)(**values)
    check_store(engine)
    return engine


def rehearse(order: Order, processes: int) -> None:
    """What would go wrong in every child is said once, before there is one."""
    engine = prepare(order)
    with ExitStack() as stack:
        for place in range(processes):
            if (where := at(order.metrics, place)) is not None:
                serve_metrics(engine, where, stack)


def check_store(engine: Tenure) -> None:
    """Raises where the schema is not right: waiting would not help."""
    engine.features.load()  # their tables are checked with the engine's
    with suppress(StoreUnavailable):
        engine.store.now()


def apart(step: Callable[[], object]) -> int:
    """Try a step in a child process: a supervisor imports no app and opens no store."""
    return os.waitstatus_to_exitcode(os.waitpid(begin_apart(step), 0)[1])


def begin_apart(step: Callable[[], object]) -> int:
    """A child process that ends when the step does, with its exit code; the child's id."""
    sys.stdout.flush()
    if pid := os.fork():
        return pid
    code = 1
    try:
        code = errors.run(step)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
