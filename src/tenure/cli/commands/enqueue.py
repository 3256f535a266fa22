"""`tenure enqueue`: one job from options, or many from lines."""

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
    kind: Annotated[str | None, typer.Argument(metavar="KIND", help="Selects the handler.")] = None,
    payload: Annotated[str, typer.Option(metavar="JSON", help="The handler's arguments.")] = "{}",
    key: Key = None,
    key_mode: Annotated[KeyMode | None, typer.Option(help="Where the key is in use.")] = None,
    queue: Annotated[str | None, typer.Option(metavar="NAME", help="The queue.")] = None,
    priority: Annotated[int | None, typer.Option(help="0 goes first; 2 is usual.")] = None,
    tenant: Tenant = None,
    owner: Owner = None,
    delay: Annotated[float | None, typer.Option(metavar="SECONDS", help="Not before.")] = None,
    run_at: Annotated[str | None, typer.Option(metavar="ISO", help="Not before.")] = None,
    expires: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="Cancel it if not started by then.")
    ] = None,
    max_attempts: Annotated[int | None, typer.Option(metavar="N", help="Runs at most.")] = None,
    correlation_id: CorrelationId = None,
    jsonl: Annotated[
        str | None,
        typer.Option("--jsonl", metavar="FILE", help="Many: a JSON object a line; - is stdin."),
    ] = None,
    app: MaybeApp = None,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Add a job; it is durable when this returns. With --app, kind and payload are checked."""
    options = {
        "key": key, "key_mode": key_mode, "queue": queue, "priority": priority, "tenant": tenant,
        "owner": owner, "delay": delay, "run_at": run_at, "expires": expires,
        "max_attempts": max_attempts, "correlation_id": correlation_id,
    }  # fmt: skip
    if (kind is None) == (jsonl is None):
        raise OptionError("give a KIND or --jsonl FILE, and not both")
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
        typer.echo(f"job {ref.id} has this key already; nothing was added")
    if ref.created:
        with suppress(StoreError):  # it is added, whatever happens to the hint
            _warn(engine, job)


def _warn(engine: Tenure, job: NewJob) -> None:
    """By name nobody checks the kind; and a queue that was given may be one that nobody serves."""
    alive = [worker for worker in engine.insight.workers() if worker.alive]
    knowing = [worker for worker in alive if job.kind in worker.kinds]
    [placed] = engine.published.place([job])
    if any(placed.queue in worker.queues for worker in knowing):
        return
    if knowing:
        names = ", ".join(sorted({queue for worker in knowing for queue in worker.queues}))
        queue = placed.queue
        note(f"no live worker takes {job.kind!r} from the queue {queue!r}, but from: {names}")
    elif alive:
        note(f"no live worker knows the kind {job.kind!r}; tenure workers lists what they know")
    else:
        note(f"no worker is alive; the job waits for one that knows the kind {job.kind!r}")
