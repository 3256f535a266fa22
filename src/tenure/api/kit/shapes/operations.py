"""Operations in answers."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from tenure.api.bulk_moves import Operation, OperationState
from tenure.api.kit.shapes.shape import Moment, Shape


class OperationShape(Shape):
    """The progress of a move over many jobs. A preview has no id and changes nothing."""

    operation_id: str | None = Field(examples=["6f1c9ad02b7e4c55"])
    action: str = Field(examples=["replay"])
    state: OperationState
    total: int = Field(description="How many jobs matched when it began.")
    matched: int = Field(description="How many it has processed.")
    changed: int
    refused: int
    refused_ids: list[str] = Field(description="Some of those that could not be changed.")
    started_at: Moment
    error: str | None


class ListedOperationShape(OperationShape):
    """An operation in the list."""

    actor: str
    filter: str = Field(description="Its conditions in a line.", examples=["states=failed,dead"])


class OperationsShape(Shape):
    """Operations of the last day, newest first; at most 100."""

    items: list[ListedOperationShape]


def listed_shape(one: Operation) -> ListedOperationShape:
    """The shape of an operation in the list."""
    shape = operation_shape(one).model_dump()
    return ListedOperationShape.model_validate(
        {**shape, "actor": one.actor, "filter": one.filter}, by_name=True
    )


def operation_shape(one: Operation) -> OperationShape:
    """The shape of an operation."""
    return OperationShape(
        operation_id=one.id,
        action=one.action,
        state=one.state,
        total=one.total,
        matched=one.matched,
        changed=one.changed,
        refused=one.matched - one.changed,
        refused_ids=list(one.refused_ids),
        started_at=datetime.fromisoformat(one.started_at),
        error=one.error,
    )
