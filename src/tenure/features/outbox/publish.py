"""Publishing: an event as a job to add, which exists if and only if the caller's commit does."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypedDict, cast

from tenure.core.errors import EventConflict, KeyConflict, OptionError
from tenure.core.job import NewJob
from tenure.core.rules.order import OnFailure
from tenure.features.outbox.dispatch import DISPATCH, PATIENCE
from tenure.features.outbox.event import described
from tenure.features.outbox.patterns import check_single
from tenure.features.outbox.settings import DISPATCH_QUEUE
from tenure.jobs.options import Options

if TYPE_CHECKING:
    from tenure.app import Tenure
    from tenure.jobs.reference import JobRef


class EventOptions(TypedDict, total=False):
    """What may be said about an event beside its type.

    `event_id`: the same one twice counts once. `ordered`: behind the earlier events of its
    aggregate, which is the default where it has one; its key is locked until the commit.
    """

    aggregate: tuple[str, str | int] | None
    data: Any
    event_id: str | None
    ordered: bool
    tenant: str
    owner: str | None
    delay: float
    run_at: datetime | None
    correlation_id: str | None
    trace: str | None


OWN = ("aggregate", "data", "event_id", "ordered")


@dataclass(frozen=True, slots=True)
class EventRef:
    """The answer to a publish. `created` is False where this event id was published before."""

    id: str
    job_id: str
    created: bool = True


def new_event(app: Tenure, type: str, said: EventOptions, window: float) -> NewJob:
    """A checked event that is not yet published."""
    if unknown := said.keys() - EventOptions.__optional_keys__:
        known = ", ".join(sorted(EventOptions.__optional_keys__))
        raise OptionError(f"an event has no option {sorted(unknown)[0]!r}; there are: {known}")
    given = said.get("event_id")
    event_id = str(uuid.uuid4()) if given is None else given
    check_single(type)
    event = described(event_id, type, said.get("aggregate"), said.get("data", {}))
    options: dict[str, Any] = {name: said[name] for name in said if name not in OWN}  # type: ignore[literal-required]
    options |= {
        "key": event.id,
        "key_window": None if given is None else window,
        "queue": DISPATCH_QUEUE,
        "priority": app.settings.priority,
        "max_attempts": PATIENCE.attempts,
    }
    if _ordered(said):
        options |= {"ordering_key": event.order("outbox"), "ordering_failure": OnFailure.SKIP}
    return app.new(DISPATCH, event.to_payload(), **cast(Options, options))


def check_transaction(tx: object) -> None:
    """A type in its place is the likeliest mistake."""
    if isinstance(tx, str):
        raise OptionError(
            f"publish(tx, type, ...) takes the transaction first, not {tx!r}; give None there for "
            "an event that belongs to no transaction of yours"
        )


def check_events(events: Sequence[object]) -> None:
    """Made with `outbox.event(...)`."""
    for one in events:
        if not isinstance(one, NewJob) or one.kind != DISPATCH:
            raise OptionError(f"publish_many takes events made with outbox.event(...), not {one!r}")


def refs(events: Sequence[NewJob], added: Sequence[JobRef]) -> list[EventRef]:
    """Answers in the order of the events."""
    pairs = zip(events, added, strict=True)
    return [EventRef(new.key.value if new.key else "", ref.id, ref.created) for new, ref in pairs]


@contextmanager
def telling_conflicts() -> Iterator[None]:
    """An event id that was used for something else, in words of events."""
    try:
        yield
    except KeyConflict as error:
        raise EventConflict(error.kind, error.key, error.job_id) from None


def _ordered(said: EventOptions) -> bool:
    has_aggregate = said.get("aggregate") is not None
    ordered = said.get("ordered", has_aggregate)
    if ordered and not has_aggregate:
        raise OptionError("ordered=True needs an aggregate=(TYPE, ID) whose events are ordered")
    return ordered
