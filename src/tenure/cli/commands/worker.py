"""`tenure worker`: run the jobs of an app until a signal stops it."""

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
    typer.Option("--lease-seconds", metavar="SECONDS", min=0.2, max=86_400, show_default="60",
                 help="Lease length in seconds."),
]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """Which app to run, and with which options."""

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
        int, typer.Option("--processes", metavar="N", min=1, max=512, help="Number of processes.")
    ] = 1,
    concurrency: Annotated[
        int | None,
        typer.Option("--concurrency", metavar="N", min=1, max=10_000, show_default="10",
                     help="Jobs each process runs at a time, per queue."),
    ] = None,
    lease_seconds: LeaseSeconds = None,
    queue: Annotated[
        list[str] | None,
        typer.Option("--queue", metavar="NAME=SLOTS",
                     help="Serve only this queue. May be repeated."),
    ] = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", help="Print only errors of the worker itself.")
    ] = False,
    metrics_port: MetricsPort = None,
    metrics_host: MetricsHost = "127.0.0.1",
) -> None:  # fmt: skip
    """Run jobs until SIGTERM or SIGINT.

    Running jobs may finish for WORKER_SHUTDOWN_TIMEOUT_MS.
    A second signal returns them to the queue at once.
    """
    order = Order(app=app, database=database, concurrency=concurrency,
                  lease_seconds=lease_seconds, queues=queue or [], quiet=quiet,
                  metrics=address(metrics_host, metrics_port))  # fmt: skip
    slots(order.queues, 1)  # a bad --queue fails here, not in every child
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
    """Run a worker in this process until a signal stops it."""
    from tenure.worker import Worker

    engine = prepare(order)
    default = order.concurrency or engine.settings.concurrency
    one = Worker(engine, concurrency=order.concurrency, queues=slots(order.queues, default))
    gc.collect()  # before freeze, which would keep garbage for ever
    gc.freeze()  # imported modules stay alive, so the collector need not scan them again
    one.isolate()  # forks, so it must come before the thread that serves metrics
    with watching(engine, quiet=order.quiet, metrics=at(order.metrics, place)):
        one.run()


def prepare(order: Order) -> Tenure:
    """The app with the settings of the command line."""
    engine = load_app(order.app, order.database)
    if order.lease_seconds is not None:
        values = {**engine.settings.model_dump(), "lease_seconds": order.lease_seconds}
        engine.settings = type(engine.settings)(**values)
    check_store(engine)
    return engine


def rehearse(order: Order, processes: int) -> None:
    """Check in one process what would otherwise fail in every child."""
    engine = prepare(order)
    with ExitStack() as stack:
        for place in range(processes):
            if (where := at(order.metrics, place)) is not None:
                serve_metrics(engine, where, stack)


def check_store(engine: Tenure) -> None:
    """Raise if the schema is not usable. An unreachable database is not an error: it may return."""
    engine.features.load()  # their tables are checked with the engine's
    with suppress(StoreUnavailable):
        engine.store.now()


def apart(step: Callable[[], object]) -> int:
    """Run a step in a child process, so that the supervisor imports no app and opens no store."""
    return os.waitstatus_to_exitcode(os.waitpid(begin_apart(step), 0)[1])


def begin_apart(step: Callable[[], object]) -> int:
    """Start a child process that runs the step and exits with its code; returns its id."""
    sys.stdout.flush()  # otherwise the child prints the buffer a second time
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
        os._exit(code)  # not sys.exit: the parent's exit handlers must not run in the child
