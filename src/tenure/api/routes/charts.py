"""`/api/stats`, `/api/errors`, `/api/kinds`: what workers have counted and published."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import Field, TypeAdapter, ValidationError

from tenure.api.kit.cursors import seal, unseal
from tenure.api.kit.identity import Reader, SiteReader
from tenure.api.kit.service import Engine
from tenure.api.kit.shapes.charts import (
    ChartShape,
    ErrorGroupPage,
    KindsShape,
    chart_shape,
    error_group_shape,
    kind_shape,
)
from tenure.api.kit.shapes.shape import Input, When
from tenure.api.kit.shapes.words import Kind, Queue, Tenant
from tenure.core.errors import OptionError
from tenure.core.page import MAX_PAGE
from tenure.core.refusals import Forbidden
from tenure.operations.charts import By
from tenure.operations.kinds import kinds
from tenure.stores.contract.rollups import RollupFilter

router = APIRouter(prefix="/api", tags=["charts"])
SPANS = {"1h": timedelta(hours=1), "24h": timedelta(hours=24), "7d": timedelta(days=7)}
WHEN: TypeAdapter[datetime] = TypeAdapter(When)
SINCE = r"^(1h|24h|7d|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+(Z|[+-][0-9:]+))$"
Since = Annotated[
    str,
    Field(max_length=40, pattern=SINCE,
          examples=["24h"], description="`1h`, `24h`, `7d`, or a time with a zone."),
]  # fmt: skip


class ChartInput(Input):
    """What to draw."""

    since: Since = "1h"
    step: Literal[60, 600, 3600] | None = Field(
        default=None, description="Seconds; without it the finest that is kept for so long."
    )
    queue: list[Queue] | None = Field(default=None, max_length=100)
    kind: list[Kind] | None = Field(default=None, max_length=100)
    by: By | None = Field(default=None, description="Also the totals of each queue or kind.")


class ErrorsInput(Input):
    """Which error groups to list."""

    since: Since = "7d"
    kind: list[Kind] | None = Field(default=None, max_length=100)
    tenant: Tenant | None = None
    page_size: int = Field(default=50, ge=1, le=MAX_PAGE)
    after: str | None = Field(
        default=None, max_length=500, description="`next` of the previous page."
    )

    def question(self) -> str:
        """The filter as a text: a cursor belongs to one."""
        return self.model_dump_json(exclude={"page_size", "after"}, exclude_none=True)


@router.get("/stats", operation_id="getStats")
def get_stats(
    asked: Annotated[ChartInput, Query()], caller: SiteReader, engine: Engine
) -> ChartShape:
    """Read charts of the whole fleet: endings, retries, waits and runs. Some seconds old."""
    where = RollupFilter(queues=_any(asked.queue), kinds=_any(asked.kind))
    chart = engine.charts.chart(since(asked.since), step=asked.step, where=where, by=asked.by)
    return chart_shape(chart)


@router.get("/errors", operation_id="listErrors")
def list_errors(
    asked: Annotated[ErrorsInput, Query()], caller: Reader, engine: Engine
) -> ErrorGroupPage:
    """List groups of failures that differ only in numbers, ids and quoted words."""
    scope = caller.scope
    if scope.owner is not None:
        raise Forbidden("error groups are kept by tenant, not by user; ask for jobs instead")
    if scope.tenant is not None and asked.tenant not in (None, scope.tenant):
        return ErrorGroupPage(items=[], next=None)
    page = engine.charts.errors(
        since(asked.since),
        limit=asked.page_size,
        after=unseal(asked.after, asked.question()),
        tenant=asked.tenant if scope.tenant is None else scope.tenant,
        kinds=_any(asked.kind),
    )
    items = [error_group_shape(one) for one in page.rows]
    return ErrorGroupPage(items=items, next=seal(page.next, asked.question()))


@router.get("/kinds", operation_id="listKinds")
def list_kinds(caller: SiteReader, engine: Engine) -> KindsShape:
    """List the kinds that workers have published: options, arguments, limits, the last hour."""
    found = kinds(engine.store, engine.published, engine.insight, engine.limits)
    return KindsShape(items=[kind_shape(one) for one in found])


def since(text: str) -> timedelta | datetime:
    """`24h` or a time; OptionError for a time that is none, or that is to come."""
    if text in SPANS:
        return SPANS[text]
    try:
        return WHEN.validate_python(text)
    except ValidationError:
        raise OptionError(f"{text!r} is not a time; write 24h or 2026-11-16T04:30:00Z") from None


def _any(values: list[str] | None) -> tuple[str, ...] | None:
    return tuple(values) if values else None
