"""`tenure jobs`: list and show jobs. The moves are in `job_moves.py`, `tail` in `tail.py`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from itertools import islice
from typing import Annotated, Any

import typer

from tenure.api.kit.shapes.jobs import listed
from tenure.app import Tenure
from tenure.cli.commands import job_moves as moves
from tenure.cli.commands import logs, tail
from tenure.cli.kit.durations import ago
from tenure.cli.kit.engines import open_existing
from tenure.cli.kit.filters import with_filter
from tenure.cli.kit.job_json import attempt, facts, items, last_error, light, plain, reason, whole
from tenure.cli.kit.options import AsJson, Database, JobId
from tenure.cli.kit.output import note, show_facts, show_json, show_table, to_json
from tenure.core.filter import JobFilter
from tenure.core.job import Job, State
from tenure.core.page import MAX_PAGE
from tenure.core.search import search
from tenure.operations.page_of_whys import PageOfWhys
from tenure.stores.contract import Attempt

jobs = typer.Typer(help="List, show, follow, retry, cancel and purge jobs.", no_args_is_help=False)
LIST_LENGTH = 50
COLUMNS = ("id", "kind", "state", "run", "queue", "tenant", "created", "note")
Limit = Annotated[
    int | None,
    typer.Option("--limit", min=1, help="Maximum number of rows.", show_default=str(LIST_LENGTH)),
]
Cursor = Annotated[
    str | None, typer.Option("--cursor", metavar="CURSOR", help="Continue from this cursor.")
]
SearchWords = Annotated[
    list[str], typer.Argument(metavar="WORDS", help="Such as: kind:mail.send state:bad")
]
WithWhy = Annotated[bool, typer.Option("--why", help="Say why each waiting job waits.")]
AsLines = Annotated[
    bool, typer.Option("--jsonl", help="Stream all matches, one JSON object per line.")
]


@jobs.command("why")
def show_why(job_id: JobId, database: Database = None, as_json: AsJson = False) -> None:
    """Explain why a job is not running."""
    engine = open_existing(database)
    job = engine.get(job_id)
    found = engine.insight.why(job)
    if as_json:
        show_json({"jobId": job.id, "state": job.state, "why": reason(found)})
    else:
        typer.echo(f"job {job.id} ({job.kind}, {job.state}): {found.text}")


@jobs.command("list")
@with_filter
def show_list(
    where: JobFilter,
    database: Database = None,
    limit: Limit = None,
    cursor: Cursor = None,
    as_json: AsJson = False,
    as_lines: AsLines = False,
) -> None:
    """List jobs, newest first."""
    engine = open_existing(database)
    if as_lines:
        _stream(engine, where, limit, cursor)
        return
    page = engine.insight.page(where, limit=min(limit or LIST_LENGTH, MAX_PAGE), after=cursor)
    if as_json:
        show_json({"items": [light(job) for job in page.rows], "next": page.next})
        return
    if not page.rows:
        typer.echo("no jobs match")
        return
    show_table(COLUMNS, _rows(page.rows, engine.store.now()))
    if page.next is not None:
        note(f"more rows: --cursor {page.next}")


@jobs.command("search")
def show_found(
    words: SearchWords,
    database: Database = None,
    limit: Limit = None,
    cursor: Cursor = None,
    why: WithWhy = False,
    as_json: AsJson = False,
) -> None:
    """Search jobs by words, newest first, with their last errors.

    Words: kind: queue: state: (or open, bad) tenant: user: key: error: group: parent: id:
    payload.PATH: and any text without a colon, which is a key or an id.
    """
    engine = open_existing(database)
    page = engine.insight.page(
        search(" ".join(words)), limit=min(limit or LIST_LENGTH, MAX_PAGE), after=cursor
    )
    errors = engine.store.jobs.last_errors([job.id for job in page.rows])
    waiting = [job for job in page.rows if why and job.state is State.QUEUED]
    reasons = PageOfWhys(engine.store, engine.insight.around()).of(waiting) if waiting else {}
    if as_json:
        rows = [plain(listed(job, errors.get(job.id), reasons.get(job.id))) for job in page.rows]
        show_json(
            {"items": rows, "next": page.next, "searched": page.searched, "complete": page.complete}
        )
        return
    if not page.rows:
        typer.echo("no jobs match")
    else:
        now = engine.store.now()
        told = {job: f"{one.type}: {one.message}" for job, one in errors.items()}
        told |= {job: one.text for job, one in reasons.items()}
        rows_of = zip(page.rows, _rows(page.rows, now), strict=True)
        show_table(COLUMNS, [(*row[:-1], told.get(job.id) or row[-1]) for job, row in rows_of])
    if not page.complete:
        note(f"searched the newest {page.searched:,} jobs; older ones: --cursor {page.next}")
    elif page.next is not None:
        note(f"more rows: --cursor {page.next}")


@jobs.command("show")
def show_one(job_id: JobId, database: Database = None, as_json: AsJson = False) -> None:
    """Show a job with its payload, result and last error."""
    engine = open_existing(database)
    job = engine.get(job_id)
    history = engine.insight.history(job)
    if as_json:
        show_json(whole(job, history, engine.insight.why(job)))
        return
    shown = {name.replace("_", " "): value for name, value in facts(job).items() if value}
    if shown.pop("lifted", False):
        shown["priority"] = f"{job.priority} (raised one step by the queue's ageing)"
    show_facts(shown.items())
    for name, value in (("payload", job.payload), ("result", job.result)):
        if value is not None:
            typer.echo(f"\n{name}\n{json.dumps(value, indent=2, ensure_ascii=False)}")
    if error := last_error(history):
        typer.echo(f"\nlast error\n{error['type']}: {error['message']}")
        typer.echo(error.get("traceback") or "", nl=False)


@jobs.command("history")
def show_history(job_id: JobId, database: Database = None, as_json: AsJson = False) -> None:
    """Show every run of a job and every operator's move, oldest first."""
    engine = open_existing(database)
    history = engine.insight.history(engine.get(job_id))
    if as_json:
        show_json(items(attempt(one) for one in history))
        return
    if not history:
        typer.echo(f"job {job_id} has no history yet")
        return
    columns = ("fence", "run", "entry", "worker", "ended", "took", "error")
    show_table(columns, [_history_row(one) for one in history])


def _stream(engine: Tenure, where: JobFilter, limit: int | None, cursor: str | None) -> None:
    after = cursor
    left = limit
    while True:
        page = engine.insight.page(where, limit=min(left or MAX_PAGE, MAX_PAGE), after=after)
        for job in islice(page.rows, left):
            typer.echo(to_json(light(job)))
        left = None if left is None else left - len(page.rows)
        after = page.next
        if after is None or (left is not None and left <= 0):
            return


def _rows(found: Iterable[Job], now: datetime) -> list[tuple[object, ...]]:
    return [
        (
            job.id,
            job.kind,
            job.state,
            f"{job.attempt}/{job.max_attempts}",
            job.queue,
            job.tenant,
            ago(job.created_at, now),
            _note(job, now),
        )
        for job in found
    ]


def _note(job: Job, now: datetime) -> str:
    """The most useful fact about this job, for the last column."""
    if job.cancel_requested and not job.state.final:
        return "cancel requested"
    if job.state is State.QUEUED and job.run_at > now:
        return f"due {ago(job.run_at, now)}"
    if job.state is State.RUNNING and job.progress is not None:
        return f"{job.progress:.0%} {job.progress_note or ''}".strip()
    return job.reason or ""


def _error(error: dict[str, Any]) -> str:
    bound = f" ({error['bound']})" if error.get("bound") else ""
    return f"{error['type']}: {error['message']}{bound}"


def _history_row(one: Attempt) -> tuple[object, ...]:
    took = one.duration_seconds
    error = one.failure
    return (
        one.fence,
        one.attempt or "",
        one.entry,
        one.worker,
        one.finished_at,
        "" if took is None else f"{took:.3f}s",
        "" if error is None else _error(error),
    )


jobs.command("logs")(logs.logs)
jobs.command("tail")(tail.tail)
for move in (moves.retry, moves.cancel, moves.replay, moves.purge):
    jobs.command(move.__name__)(with_filter(move))
