"""Where the jobs of a page are in the lines of their queues, and whose jobs are open."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from tenure.core.job import Job
from tenure.core.rules.why import MOST_AHEAD
from tenure.core.timing.clock import to_micros
from tenure.stores.contract.parts import COUNTED_AT_MOST, TenantLoad
from tenure.stores.sql.statement import Rows, Statement

QUEUED, RUNNING, HELD = 0, 1, 8
# Tenants in one answer; those with the most jobs.
TENANTS_AT_MOST = 500
Read = Callable[[Statement], Rows]


class Lane(NamedTuple):
    """Jobs of one queue, priority and tenant go by age."""

    queue: str
    priority: int
    tenant: str


def ahead_of(read: Read, jobs: Sequence[Job]) -> Mapping[str, int]:
    """One statement for each queue and for each lane of these jobs, instead of one for each job."""
    lanes: defaultdict[Lane, list[Job]] = defaultdict(list)
    for job in jobs:
        lanes[Lane(job.queue, job.priority, job.tenant)].append(job)
    better = {queue: _priorities(read, queue) for queue in {lane.queue for lane in lanes}}
    found: dict[str, int] = {}
    for lane, members in lanes.items():
        first = sum(1 for one in better[lane.queue] if one < lane.priority)
        places = _places(read, lane) if first <= MOST_AHEAD else []
        for job in members:
            mine = bisect_left(places, (to_micros(job.run_at), int(job.id)))
            found[job.id] = min(first + mine, MOST_AHEAD + 1)
    return found


def _priorities(read: Read, queue: str) -> list[int]:
    """The priorities of the first due jobs of a queue."""
    found = read(Statement("first_in_line", {"queue": queue, "limit": MOST_AHEAD + 1}))
    return [priority for priority, *_ in found]


def _places(read: Read, lane: Lane) -> list[tuple[int, int]]:
    """The first due jobs of a lane, in their order."""
    found = read(Statement("first_in_lane", {**lane._asdict(), "limit": MOST_AHEAD + 1}))
    return [(run_at, number) for run_at, number in found]


def tenant_loads(read: Read) -> list[TenantLoad]:
    """Tenants with open jobs, those with the most first."""
    rows = read(Statement("open_tenants", {"limit": COUNTED_AT_MOST}))
    counted: Counter[tuple[str, int]] = Counter()
    parts: Counter[int] = Counter()
    for tenant, shown, jobs in rows:
        counted[tenant, shown] += int(jobs)
        parts[shown] += int(jobs)
    most = any(jobs >= COUNTED_AT_MOST for jobs in parts.values())
    loads = [_load(tenant, counted, most) for tenant in _names(counted)]
    loads.sort(key=lambda one: (-(one.queued + one.running), one.tenant))
    return loads[:TENANTS_AT_MOST]


def _names(counted: Iterable[tuple[str, int]]) -> set[str]:
    return {tenant for tenant, _ in counted}


def _load(tenant: str, counted: Counter[tuple[str, int]], most: bool) -> TenantLoad:
    held = counted[tenant, HELD]
    return TenantLoad(
        tenant=tenant,
        queued=counted[tenant, QUEUED] + held,
        held=held,
        running=counted[tenant, RUNNING],
        at_least=most,
    )
