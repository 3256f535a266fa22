"""Charts of the whole fleet from what workers have counted, and groups of errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from tenure.core.page import Page
from tenure.core.rules.rollups import HOUR, Totals, points, step_for, summed, totals
from tenure.core.timing.clock import from_micros, to_micros
from tenure.stores.contract import Capability, Store
from tenure.stores.contract.needs import need
from tenure.stores.contract.rollups import ErrorGroup, RollupFilter

By = Literal["queue", "kind"]
ANY = RollupFilter()
SPARK_HOURS = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """What happened in one step of a chart."""

    at: datetime
    totals: Totals


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A point for every step, also for empty ones; `groups` by name."""

    since: datetime
    until: datetime
    step_seconds: int
    totals: Totals
    points: Sequence[Point]
    groups: Mapping[str, Totals]


@dataclass(frozen=True, slots=True)
class SeenGroup:
    """An error group with its failures in each of the last 24 hours, oldest first."""

    group: ErrorGroup
    hours: Sequence[int]


class Charts:
    """`app.charts`: reads what workers have counted, some seconds ago at most."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def chart(
        self,
        since: timedelta | datetime,
        *,
        step: int | None = None,
        where: RollupFilter = ANY,
        by: By | None = None,
    ) -> Chart:
        """Endings, retries and times since then. OptionError if steps are not kept that long."""
        need(self._store, Capability.ROLLUPS)
        now = self._store.now()
        age = now - since if isinstance(since, datetime) else since
        seconds = step_for(age, step)
        span, count = timedelta(seconds=seconds), points(age, seconds)
        begin = _floor(now, seconds) - span * (count - 1)
        found = self._store.rollups.periods(seconds, begin, where)
        steps = [begin + span * place for place in range(count)]
        return Chart(
            since=begin,
            until=now,
            step_seconds=seconds,
            totals=totals(summed(pair for sums in found.values() for pair in sums.items())),
            points=[Point(at=at, totals=totals(found.get(at, {}))) for at in steps],
            groups={} if by is None else self._by(by, seconds, begin, where),
        )

    def kinds(self, since: timedelta) -> Mapping[str, Totals]:
        """Totals of each kind since then."""
        need(self._store, Capability.ROLLUPS)
        seconds = step_for(since)
        begin = _floor(self._store.now() - since, seconds)
        return self._by("kind", seconds, begin, ANY)

    def errors(
        self,
        since: timedelta | datetime,
        *,
        limit: int = 50,
        after: str | None = None,
        tenant: str | None = None,
        kinds: Sequence[str] | None = None,
    ) -> Page[SeenGroup]:
        """Error groups that were seen since then, the last seen first; of one tenant, or all."""
        need(self._store, Capability.ROLLUPS)
        now = self._store.now()
        begin = since if isinstance(since, datetime) else now - since
        page = self._store.rollups.groups(begin, limit, after, tenant=tenant, kinds=kinds)
        first = _floor(now, HOUR) - timedelta(hours=SPARK_HOURS - 1)
        hours = self._store.rollups.hours(page.rows, first, tenant=tenant)
        marks = [first + timedelta(hours=place) for place in range(SPARK_HOURS)]
        return Page(
            [
                SeenGroup(one, [hours.get((one.kind, one.group), {}).get(at, 0) for at in marks])
                for one in page.rows
            ],
            page.next,
        )

    def _by(
        self, by: By, seconds: int, begin: datetime, where: RollupFilter
    ) -> Mapping[str, Totals]:
        sums: dict[str, list[tuple[int, int]]] = {}
        for (queue, kind), measures in self._store.rollups.sums(seconds, begin, where).items():
            sums.setdefault(queue if by == "queue" else kind, []).extend(measures.items())
        return {name: totals(summed(sums[name])) for name in sorted(sums)}


def _floor(moment: datetime, seconds: int) -> datetime:
    """The begin of the period that a moment is in."""
    span = seconds * 1_000_000
    return from_micros(to_micros(moment.astimezone(UTC)) // span * span)
