"""`tenure enqueue`: add one job from options, or many from a JSON Lines file."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import Annotated

import typer

from tenure.app import Tenure
from tenure.cli.kit.apps import load_app
from tenure.cli.kit.engines import open_engine
from tenure.cli.kit.job_json import added
from tenure.cli.kit.json_lines import enqueue_lines, fields, open_lines
from tenure.cli.kit.options import AsJson, CorrelationId, Database, Key, MaybeApp, Owner, Tenant
from tenure.cli.kit.output import note, show_json
from tenure.cli.kit.values import parse_json
from tenure.core.errors import OptionError, StoreError
from tenure.core.job import KeyMode, NewJob


def enqueue(
    kind: Annotated[
        str | None, typer.Argument(metavar="KIND", help="Kind of the job: it selects the handler.")
    ] = None,
    payload: Annotated[str, typer.Option(metavar="JSON", help="Arguments of the handler.")] = "{}",
    key: Key = None,
    key_mode: Annotated[
        KeyMode | None, typer.Option(help="What to do if the key is in use.")
    ] = None,
    queue: Annotated[str | None, typer.Option(metavar="NAME", help="Queue.")] = None,
    priority: Annotated[int | None, typer.Option(help="Priority; 0 runs first.")] = None,
    tenant: Tenant = None,
    owner: Owner = None,
    delay: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="Run after this many seconds.")
    ] = None,
    run_at: Annotated[
        str | None, typer.Option(metavar="TIME", help="Run at this ISO 8601 time.")
    ] = None,
    expires: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="Cancel the job unless it starts in this time."),
    ] = None,
    max_attempts: Annotated[
        int | None, typer.Option(metavar="N", help="Maximum number of runs.")
    ] = None,
    correlation_id: CorrelationId = None,
    jsonl: Annotated[
        str | None,
        typer.Option(
            "--jsonl",
            metavar="FILE",
            help="Add one job per line, each a JSON object. - reads stdin.",
        ),
    ] = None,
    app: MaybeApp = None,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Add a job. It is committed when the command returns. --app checks kind and payload."""
    options = {
        "key": key, "key_mode": key_mode, "queue": queue, "priority": priority, "tenant": tenant,
        "owner": owner, "delay": delay, "run_at": run_at, "expires": expires,
        "max_attempts": max_attempts, "correlation_id": correlation_id,
    }  # fmt: skip
    if (kind is None) == (jsonl is None):
        raise OptionError("give either KIND or --jsonl FILE")
    engine = load_app(app, database) if app else open_engine(database)
    if jsonl is not None:
        with open_lines(jsonl) as lines:
            enqueue_lines(engine, lines, checked=app is not None)
        return
    given = {"kind": kind, "payload": parse_json(payload, "payload"), **options}
    _one(engine, given, checked=app is not None, as_json=as_json)


def _one(engine: Tenure, given: dict[str, object], *, checked: bool, as_json: bool) -> None:
    job = fields(engine, given, checked=checked)
    ref = engine.enqueue_many([job])[0]
    if as_json or not sys.stdout.isatty():
        show_json(added(ref))
    elif ref.created:
        typer.echo(f"job {ref.id} is queued")
    else:
        typer.echo(f"job {ref.id} already has this key; nothing was added")
    if ref.created:
        # The job is committed: a warning that cannot be computed must not look like a failure.
        with suppress(StoreError):
            _warn(engine, job)


def _warn(engine: Tenure, job: NewJob) -> None:
    """Warn if no live worker takes the job: the kind may be misspelt, or the queue not served."""
    alive = [worker for worker in engine.insight.workers() if worker.alive]
    knowing = [worker for worker in alive if job.kind in worker.kinds]
    [placed] = engine.published.place([job])
    if any(placed.queue in worker.queues for worker in knowing):
        return
    if knowing:
        names = ", ".join(sorted({queue for worker in knowing for queue in worker.queues}))
        queue = placed.queue
        note(
            f"warning: no live worker takes {job.kind!r} from queue {queue!r}; they serve: {names}"
        )
    elif alive:
        note(f"warning: no live worker knows the kind {job.kind!r}; the job waits until one does")
    else:
        note(f"warning: no worker is alive; the job waits until one knows the kind {job.kind!r}")
