"""What `tenure doctor` checks of the outbox."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tenure.app import Tenure
from tenure.cli.kit.durations import plural
from tenure.core.filter import JobFilter
from tenure.feature import Finding, Level
from tenure.features.outbox.dispatch import DISPATCH
from tenure.features.outbox.outbox import Outbox
from tenure.features.outbox.patterns import is_pattern
from tenure.features.outbox.subscription import Subscription
from tenure.features.outbox.view import Status, ViewFilter

SHOWN = 5
LOOKED_AT = 200


def check(app: Tenure) -> Iterator[Finding]:
    """Types without subscriber, patterns that match nothing, and events that failed."""
    outbox = Outbox.of(app)
    active = [one for one in outbox.subscriptions() if one.active]
    if idle := _idle(app, active):
        yield idle
    failed = outbox.view(ViewFilter(status=Status.FAILED), limit=LOOKED_AT)
    unwanted = sorted({row.type for row in failed.rows if row.subscriber is None})
    if unwanted:
        yield _unwanted(unwanted)
    if lost := [row for row in failed.rows if row.subscriber is not None]:
        more = " or more" if failed.next is not None else ""
        fact = f"{plural(len(lost), 'event')}{more} FAILED on the way to a subscriber"
        todo = "tenure outbox list --status FAILED; then tenure outbox retry ID"
        yield Finding(Level.WARNING, "outbox", fact, todo)
    if not failed.rows:
        yield Finding(Level.OK, "outbox", f"{plural(len(active), 'subscription')}, none FAILED")


def _idle(app: Tenure, active: Sequence[Subscription]) -> Finding | None:
    """Patterns that no event has matched, where there are events at all: likely a typing error."""
    if not _any(app, DISPATCH):
        return None
    idle = [one.type for one in active if is_pattern(one.type) and not _any(app, one.kind)]
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
