"""What `tenure doctor` checks of the outbox."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tenure.app import Tenure
from tenure.cli.kit.durations import plural
from tenure.core.filter import JobFilter
from tenure.core.job import Job
from tenure.feature import Finding, Level
from tenure.features.outbox.dispatch import DISPATCH
from tenure.features.outbox.outbox import Outbox
from tenure.features.outbox.patterns import is_pattern
from tenure.features.outbox.subscription import Subscription

SHOWN = 5
LOOKED_AT = 500
PAYLOADS_READ = 100


def check(app: Tenure) -> Iterator[Finding]:
    """Types without subscriber, patterns that match nothing, and events that failed."""
    outbox = Outbox.of(app)
    active = [one for one in outbox.subscriptions() if one.active]
    if idle := _idle(app, active):
        yield idle
    failed, all_seen = _failed(app, {one.kind for one in outbox.subscriptions()})
    unsent = [job.id for job in failed if job.kind == DISPATCH]
    if unsent:
        yield _unwanted(_types(app, unsent))
    if lost := len(failed) - len(unsent):
        more = "" if all_seen else " or more"
        fact = f"{plural(lost, 'event')}{more} FAILED on the way to a subscriber"
        todo = "tenure outbox list --status FAILED; then tenure outbox retry ID"
        yield Finding(Level.WARNING, "outbox", fact, todo)
    if not failed:
        among = "" if all_seen else f" among the newest {LOOKED_AT:,} failed jobs"
        fact = f"{plural(len(active), 'subscription')}, none FAILED{among}"
        yield Finding(Level.OK, "outbox", fact)


def _failed(app: Tenure, kinds: set[str]) -> tuple[list[Job], bool]:
    """Events among the newest failed jobs, and whether those were all. Failed jobs of certain kinds
    have no index: on a large table the search for them would read many rows for every dashboard.
    """
    page = app.insight.dead_letters(limit=LOOKED_AT)
    return [one for one in page.rows if one.kind in kinds | {DISPATCH}], page.next is None


def _types(app: Tenure, ids: list[str]) -> list[str]:
    jobs = app.store.jobs.look(ids[:PAYLOADS_READ]).values()
    return sorted({(job.payload or {}).get("event", {}).get("type", "") for job in jobs})


def _idle(app: Tenure, active: Sequence[Subscription]) -> Finding | None:
    """Patterns that no event has matched, where there are events at all: likely a typing error."""
    patterns = [one for one in active if is_pattern(one.type)]
    if not patterns or not _any(app, DISPATCH):
        return None
    idle = [one.type for one in patterns if not _any(app, one.kind)]
    if not idle:
        return None
    more = ", ..." if len(idle) > SHOWN else ""
    fact = f"no event has matched these patterns: {', '.join(idle[:SHOWN])}{more}"
    todo = "compare them with the types that are published: tenure outbox list"
    return Finding(Level.WARNING, "outbox", fact, todo)


def _any(app: Tenure, kind: str) -> bool:
    return bool(app.insight.page(JobFilter(kinds=(kind,)), limit=1).rows)


def _unwanted(types: list[str]) -> Finding:
    more = ", ..." if len(types) > SHOWN else ""
    fact = f"nobody subscribes to events of these types: {', '.join(types[:SHOWN])}{more}"
    todo = "run a worker whose code has @outbox.on(...) for them, then: tenure outbox retry ID"
    return Finding(Level.WARNING, "outbox", fact, todo)
