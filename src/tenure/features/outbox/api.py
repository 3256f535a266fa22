"""`/api/outbox`: events on their way to subscribers."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import Field

from tenure.api.kit import (
    Engine,
    Input,
    Moment,
    Readable,
    Reader,
    Shape,
    Writable,
    may,
    seal,
    unseal,
)
from tenure.core.filter import JobFilter
from tenure.core.page import MAX_PAGE, Page
from tenure.core.scope import Scope
from tenure.features.outbox.outbox import Outbox
from tenure.features.outbox.view import OutboxEvent, Status, ViewFilter
from tenure.jobs.options import LENGTHS

DEFAULT_PAGE = 50
PLAIN = r"^[^\x00-\x1f\x7f]*$"
Id = Annotated[str, Path(alias="id", max_length=64, examples=["42"])]
router = APIRouter(prefix="/api/outbox", tags=["outbox"])


class EventsInput(Input):
    """All that is given must hold."""

    status: Status | None = None
    type: str | None = Field(default=None, min_length=1, max_length=LENGTHS["kind"])
    subscriber: str | None = Field(default=None, min_length=1, max_length=LENGTHS["kind"])
    tenant: str | None = Field(default=None, max_length=LENGTHS["tenant"], pattern=PLAIN)
    page_size: int = Field(default=DEFAULT_PAGE, ge=1, le=MAX_PAGE)
    after: str | None = Field(
        default=None, max_length=500, description="`next` of the previous page."
    )

    def question(self) -> str:
        """What a cursor belongs to."""
        return self.model_dump_json(exclude={"page_size", "after"}, exclude_none=True)


class OutboxEventShape(Shape):
    """An event on its way to one subscriber; without a subscriber it is not yet dispatched."""

    id: str
    event_id: str
    type: str
    subscriber: str | None
    status: Status
    aggregate_type: str | None
    aggregate_id: str | None
    payload: object
    attempts: int
    max_attempts: int
    available_at: Moment
    locked_by: str | None
    locked_until: Moment | None
    last_error: str | None
    tenant_id: str
    correlation_id: str | None
    created_at: Moment
    finished_at: Moment | None


class OutboxPage(Shape):
    """Newest first."""

    items: list[OutboxEventShape]
    next: str | None


@router.get("", operation_id="listOutbox")
def list_events(
    asked: Annotated[EventsInput, Query()], caller: Reader, engine: Engine
) -> OutboxPage:
    """Events, one row for each subscriber, newest first."""
    question = asked.question()
    page = _page(engine, asked, caller.scope, unseal(asked.after, question))
    return OutboxPage(items=[_shape(event) for event in page.rows], next=seal(page.next, question))


@router.get("/{id}", operation_id="getOutboxEvent", responses=may(404))
def get_event(event: Id, jobs: Readable, engine: Engine) -> OutboxEventShape:
    """One row, with what the event says."""
    return _shape(Outbox.of(engine).get(jobs.get(event).id))


@router.post("/{id}/retry", operation_id="retryOutboxEvent", responses=may(404, 409))
def retry_event(event: Id, jobs: Writable, engine: Engine) -> OutboxEventShape:
    """Send it once more. One that is PENDING is sent now; one that is PROCESSING is left alone."""
    found = Outbox.of(engine)
    found.get(jobs.get(event).id)
    jobs.retry(event)
    return _shape(found.get(event))


def _page(engine: Engine, asked: EventsInput, scope: Scope, after: str | None) -> Page[OutboxEvent]:
    """Within what the caller may see; where nothing can match nobody is asked."""
    mine = scope.narrow(JobFilter(tenant=asked.tenant))
    if mine is None:
        return Page((), None)
    where = ViewFilter(
        status=asked.status,
        type=asked.type,
        subscriber=asked.subscriber,
        tenant=mine.tenant,
        owner=mine.owner,
    )
    return Outbox.of(engine).view(where, limit=asked.page_size, after=after)


def _shape(event: OutboxEvent) -> OutboxEventShape:
    fields = event.__dataclass_fields__
    return OutboxEventShape(**{name: getattr(event, name) for name in fields})
