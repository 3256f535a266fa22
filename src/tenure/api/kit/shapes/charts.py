"""Charts, error groups and kinds in answers."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from tenure.api.kit.shapes.shape import Moment, Shape
from tenure.core.job import State
from tenure.core.rules.error_groups import shown
from tenure.core.rules.holds import KeyHold
from tenure.core.rules.rollups import Times, Totals
from tenure.operations.charts import Chart, SeenGroup
from tenure.operations.kinds import KindView
from tenure.operations.limits import KindLimit


class TimesShape(Shape):
    """How many, and percentiles in milliseconds; null without any."""

    count: int
    p50: float | None
    p95: float | None
    p99: float | None


class TotalsShape(Shape):
    """Endings by state, retries, and how long jobs waited and ran."""

    settled: dict[State, int]
    retries: int
    wait: TimesShape
    run: TimesShape


class PointShape(TotalsShape):
    """One step of a chart."""

    at: Moment


class NamedTotalsShape(Shape):
    """The totals of a queue or a kind."""

    name: str
    totals: TotalsShape


class ChartShape(Shape):
    """A point for every step, also for empty ones."""

    since: Moment
    until: Moment
    step_seconds: int
    totals: TotalsShape
    points: list[PointShape]
    groups: list[NamedTotalsShape]


class GroupFilterShape(Shape):
    """What to pass to `/api/jobs` and to a replay."""

    kind: list[str]
    error_group: str


class ErrorGroupShape(Shape):
    """Failures that differ only in numbers, ids and quoted words."""

    error_group: str = Field(examples=["1e1a4ec080c109ef"])
    kind: str
    type: str
    message: str
    count: int = Field(description="Failures; a job that failed three times counts three.")
    first_seen: Moment
    last_seen: Moment
    sample_job_id: str
    sample_message: str
    hours: list[int] = Field(description="Failures of the last 24 hours, oldest first.")
    filter: GroupFilterShape


class ErrorGroupPage(Shape):
    """The last seen first. Pass `next` as `after` for the next page."""

    items: list[ErrorGroupShape]
    next: str | None


class LimitShape(Shape):
    """Jobs at a time, and starts per period."""

    running: int | None
    rate: float | None
    per: float
    burst: int | None
    by_operator: bool


class KindLimitShape(LimitShape):
    """The limit of a kind, of each of its keys, or of one key."""

    kind: str
    each_key: bool
    key: str | None


class HoldShape(Shape):
    """Jobs of a key, or of a whole kind if `key` is null, that do not start before `until`."""

    kind: str
    key: str | None
    since: Moment
    until: Moment = Field(description="With `probes`: when the next jobs may try.")
    seconds: float
    reason: str
    probes: int


class LimitsShape(Shape):
    """All limits and holds in force."""

    items: list[KindLimitShape]
    holds: list[HoldShape]


class KindShape(Shape):
    """A kind of job as its workers have published it."""

    kind: str
    queue: str
    priority: int
    max_attempts: int
    timeout_seconds: float
    app: str
    release: str
    seen_at: Moment | None
    workers: int = Field(description="Live worker processes that run it.")
    arguments: dict[str, Any] | None = Field(description="JSON schema of the handler's arguments.")
    limit: LimitShape | None
    key_limit: LimitShape | None
    last_hour: TotalsShape


class KindsShape(Shape):
    """All kinds, by name."""

    items: list[KindShape]


def chart_shape(chart: Chart) -> ChartShape:
    """The shape of a chart."""
    return ChartShape.model_construct(
        since=chart.since,
        until=chart.until,
        step_seconds=chart.step_seconds,
        totals=totals_shape(chart.totals),
        points=[
            PointShape.model_construct(at=point.at, **_totals(point.totals))
            for point in chart.points
        ],
        groups=[
            NamedTotalsShape.model_construct(name=name, totals=totals_shape(found))
            for name, found in chart.groups.items()
        ],
    )


def totals_shape(totals: Totals) -> TotalsShape:
    """The shape of totals."""
    return TotalsShape.model_construct(**_totals(totals))


def error_group_shape(seen: SeenGroup) -> ErrorGroupShape:
    """The shape of an error group."""
    group = seen.group
    return ErrorGroupShape(
        error_group=shown(group.group),
        kind=group.kind,
        type=group.type,
        message=group.message,
        count=group.failures,
        first_seen=group.first_at,
        last_seen=group.last_at,
        sample_job_id=group.sample_job,
        sample_message=group.sample_message,
        hours=list(seen.hours),
        filter=GroupFilterShape(kind=[group.kind], error_group=shown(group.group)),
    )


def kind_limit_shape(one: KindLimit) -> KindLimitShape:
    """The shape of a limit in a list."""
    return KindLimitShape(kind=one.kind, each_key=one.each_key, key=one.key, **_limit(one))


def hold_shape(one: KeyHold) -> HoldShape:
    """The shape of a hold."""
    return HoldShape(
        kind=one.kind,
        key=one.key,
        since=one.since,
        until=one.until,
        seconds=one.seconds,
        reason=one.reason,
        probes=one.probes,
    )


def kind_shape(view: KindView) -> KindShape:
    """The shape of a kind."""
    handler = view.handler
    return KindShape(
        kind=handler.kind,
        queue=handler.queue,
        priority=handler.priority,
        max_attempts=handler.max_attempts,
        timeout_seconds=handler.timeout,
        app=handler.app,
        release=handler.release,
        seen_at=handler.seen_at,
        workers=view.workers,
        arguments=handler.arguments,
        limit=None if view.limit is None else LimitShape(**_limit(view.limit)),
        key_limit=None if view.key_limit is None else LimitShape(**_limit(view.key_limit)),
        last_hour=totals_shape(view.last_hour),
    )


def _limit(one: KindLimit) -> dict[str, Any]:
    limit = one.limit
    return {
        "running": limit.running,
        "rate": limit.rate,
        "per": limit.per,
        "burst": limit.burst,
        "by_operator": one.by_operator,
    }


def _totals(totals: Totals) -> dict[str, Any]:
    return {
        "settled": dict(totals.settled) or {state: 0 for state in State if state.final},
        "retries": totals.retries,
        "wait": _times(totals.wait),
        "run": _times(totals.run),
    }


def _times(times: Times) -> TimesShape:
    p50, p95, p99 = (_milliseconds(one) for one in (times.p50, times.p95, times.p99))
    return TimesShape.model_construct(count=times.count, p50=p50, p95=p95, p99=p99)


def _milliseconds(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds * 1000, 3)
