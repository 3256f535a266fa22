"""`tenure outbox`: events on their way to subscribers, and who subscribes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from itertools import islice
from typing import Annotated

import typer

from tenure.cli.commands.job_moves import actor, noted
from tenure.cli.commands.jobs import LIST_LENGTH, AsLines, Cursor, Limit
from tenure.cli.kit.durations import ago
from tenure.cli.kit.engines import open_existing
from tenure.cli.kit.job_json import items
from tenure.cli.kit.options import AsJson, Database, JobId, Tenant
from tenure.cli.kit.output import note, show_facts, show_json, show_table, to_json
from tenure.core.page import MAX_PAGE
from tenure.features.outbox import Outbox, OutboxEvent, Status, Subscription, ViewFilter

outbox = typer.Typer(help="List events and their subscribers.")
StatusIs = Annotated[Status | None, typer.Option("--status", help="Filter by status.")]
TypeIs = Annotated[str | None, typer.Option("--type", metavar="TYPE", help="Of this type.")]
SubscriberIs = Annotated[
    str | None, typer.Option("--subscriber", metavar="NAME", help="For this subscriber.")
]
EventId = Annotated[str, typer.Argument(metavar="EVENT", help="The id of the event.")]
Type = Annotated[str, typer.Argument(metavar="TYPE", help="The type of events.")]
Name = Annotated[str, typer.Argument(metavar="SUBSCRIBER", help="The subscriber.")]
COLUMNS = ("id", "status", "type", "subscriber", "aggregate", "run", "available", "note")


@outbox.command("list")
def show_list(
    status: StatusIs = None,
    type: TypeIs = None,
    subscriber: SubscriberIs = None,
    tenant: Tenant = None,
    database: Database = None,
    limit: Limit = None,
    cursor: Cursor = None,
    as_json: AsJson = False,
    as_lines: AsLines = False,
) -> None:
    """Events, newest first: one row for each subscriber."""
    engine = open_existing(database)
    seen = Outbox.of(engine)
    where = ViewFilter(status=status, type=type, subscriber=subscriber, tenant=tenant)
    if as_lines:
        for row in islice(seen.events(where, after=cursor), limit):
            typer.echo(to_json(row.to_dict()))
        return
    page = seen.view(where, limit=min(limit or LIST_LENGTH, MAX_PAGE), after=cursor)
    if as_json:
        show_json({**items(row.to_dict() for row in page.rows), "next": page.next})
        return
    _say(page.rows, engine.store.now())
    if page.next is not None:
        note(f"more: --cursor {page.next}")


@outbox.command("show")
def show_one(job_id: JobId, database: Database = None, as_json: AsJson = False) -> None:
    """One event on its way to one subscriber, with what it says."""
    found = Outbox.of(open_existing(database)).get(job_id).to_dict()
    if as_json:
        show_json(found)
        return
    said = found.pop("payload")
    show_facts(found.items())
    typer.echo(f"\npayload\n{json.dumps(said, indent=2, ensure_ascii=False)}")


@outbox.command("retry")
def retry(job_id: JobId, database: Database = None, as_json: AsJson = False) -> None:
    """Send an event once more: to its subscriber, or to all of them if nobody got it yet."""
    done = Outbox.of(open_existing(database)).retry(job_id, actor()).to_dict()
    if as_json:
        show_json(done)
    else:
        typer.echo(f"{job_id} is {done['status']}")


@outbox.command("find")
def find(
    event_id: EventId, tenant: Tenant = None, database: Database = None, as_json: AsJson = False
) -> None:
    """Find all rows of one event."""
    engine = open_existing(database)
    found = Outbox.of(engine).find(event_id, tenant=tenant or "")
    if as_json:
        show_json(items(row.to_dict() for row in found))
    else:
        _say(found, engine.store.now())


@outbox.command("subscribers")
def show_subscribers(database: Database = None, as_json: AsJson = False) -> None:
    """List the subscribers of all programs on this database."""
    found = Outbox.of(open_existing(database)).subscriptions()
    if as_json:
        show_json(items(one.to_dict() for one in found))
    elif not found:
        typer.echo("no subscribers; a worker whose code has @outbox.on(...) registers them")
    else:
        columns = ("type", "subscriber", "queue", "runs", "ordered", "state")
        show_table(columns, [_subscriber(one) for one in found])


@outbox.command("unsubscribe")
def unsubscribe(
    type: Type, subscriber: Name, database: Database = None, as_json: AsJson = False
) -> None:
    """End a subscription that no program has any more."""
    engine = open_existing(database)
    ended = Outbox.of(engine).unsubscribe(type, subscriber)
    noted(engine, "subscriber.ended", subscriber, type=type)
    if as_json:
        show_json(ended.to_dict())
    else:
        typer.echo(f"{subscriber} gets no more events of type {type}")


def _say(rows: Sequence[OutboxEvent], now: datetime) -> None:
    if not rows:
        typer.echo("no events match")
        return
    show_table(COLUMNS, [_row(row, now) for row in rows])


def _row(row: OutboxEvent, now: datetime) -> tuple[object, ...]:
    return (
        row.id,
        row.status,
        row.type,
        row.subscriber,
        "" if row.aggregate_id is None else f"{row.aggregate_type} {row.aggregate_id}",
        f"{row.attempts}/{row.max_attempts}",
        ago(row.available_at, now),
        row.locked_by or row.last_error,
    )


def _subscriber(one: Subscription) -> tuple[object, ...]:
    ordered = f"yes, {one.on_failure}" if one.ordered else "no"
    state = "active" if one.active else "ended"
    return one.type, one.subscriber, one.queue, one.max_attempts, ordered, state
