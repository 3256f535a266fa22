"""Fan-out: an event becomes one job for each subscriber, in the transaction that ends its own job.

Whoever publishes need not know who subscribes; the worker that dispatches reads that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from tenure.core.errors import KeyConflict
from tenure.core.job import NewJob
from tenure.core.outcome import Fail, Outcome, Snooze
from tenure.core.rules.retry import Exponential
from tenure.features.outbox.event import Event
from tenure.features.outbox.settings import DISPATCH_QUEUE
from tenure.features.outbox.subscription import Subscription
from tenure.features.outbox.subscriptions import Subscriptions
from tenure.jobs.handler import Handler
from tenure.jobs.handler_options import HandlerOptions, RunsIn
from tenure.jobs.options import Options
from tenure.jobs.running_job import RunningJob
from tenure.jobs.transaction import OpenTransaction

if TYPE_CHECKING:
    from tenure.app import Tenure

DISPATCH = "outbox.dispatch"
NO_HANDLER = "NO_HANDLER"
PATIENCE = Exponential(base=0.2, cap=60.0, attempts=100)
"""It only fails where the database does, so it is tried for the better part of an hour."""
FIRST_LOOK = 5.0
LONGEST_LOOK = 900.0


class NoHandler(StrEnum):
    """What happens to an event that nobody subscribes to.

    fail: it is FAILED with the code NO_HANDLER, and may be retried. wait: it stays PENDING and is
    looked at again, for some days; later events of its aggregate wait behind it.
    """

    FAIL = "fail"
    WAIT = "wait"


Function = Callable[[RunningJob, Event], None]


def dispatcher(app: Tenure, subscriptions: Subscriptions, no_handler: str) -> Function:
    """The handler of events."""

    def dispatch(job: RunningJob, event: Event) -> None:
        found = subscriptions.active(event.type)
        if not found:
            app.signals.emit("outbox.unhandled", id=job.id, event=event.id, type=event.type)
            raise unhandled(event, no_handler, job.claimed.snoozes)
        whole = replace(event, occurred_at=app.get(job.id).created_at)
        common: Options = {"key": event.id, "owner": job.claimed.owner}
        jobs = [delivery(app, one, whole, common) for one in found]
        with job.settle(result=dispatched(event, found)) as tx:
            _add(app, jobs, tx)

    return dispatch


def dispatched(event: Event, found: Sequence[Subscription]) -> dict[str, list[str]]:
    """The result of a dispatch: who gets the event, and by which pattern if not by its type."""
    result = {"subscribers": [one.subscriber for one in found]}
    if any(one.type != event.type for one in found):
        result["types"] = [one.type for one in found]
    return result


def dispatch_handler(app: Tenure, dispatch: Function) -> Handler[Any]:
    """As a handler of the app, in a queue of its own."""
    options = HandlerOptions(
        queue=DISPATCH_QUEUE,
        timeout=app.settings.timeout_seconds,
        retry=PATIENCE,
        runs_in=RunsIn.THREAD,
        priority=app.settings.priority,
    )
    return Handler(app, DISPATCH, dispatch, options)


def delivery(app: Tenure, to: Subscription, event: Event, common: Options) -> NewJob:
    """The job of one subscriber."""
    options: Options = {
        **common,
        "queue": to.queue,
        "priority": to.priority,
        "max_attempts": to.max_attempts,
    }
    order = event.order(f"outbox@{to.subscriber}") if to.ordered else None
    if order is not None:
        options["ordering_key"] = order
        options["ordering_failure"] = to.on_failure
    return app.new(to.kind, event.to_payload(), **options)


def unhandled(event: Event, no_handler: str, looks: int) -> Outcome:
    """How an event without subscriber ends: it fails or waits, but is never SENT."""
    message = f"nobody subscribes to {event.type!r}: run a worker that does, then retry this"
    if no_handler == NoHandler.WAIT:
        return Snooze(min(LONGEST_LOOK, FIRST_LOOK * 2.0 ** min(looks, 30)), message)
    return Fail(message, code=NO_HANDLER)


def _add(app: Tenure, jobs: Sequence[NewJob], tx: OpenTransaction) -> None:
    """Add the deliveries; skip subscribers that still wait for an earlier event of this id."""
    try:
        app.enqueue_many(jobs, tx=tx)
    except KeyConflict:
        for job in jobs:
            with suppress(KeyConflict):
                app.enqueue_many([job], tx=tx)
