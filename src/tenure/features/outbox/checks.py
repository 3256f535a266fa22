"""What `tenure doctor` checks of the outbox."""

from __future__ import annotations

from collections.abc import Iterator

from tenure.app import Tenure
from tenure.cli.kit.durations import plural
from tenure.feature import Finding, Level
from tenure.features.outbox.outbox import Outbox
from tenure.features.outbox.view import Status, ViewFilter

SHOWN = 5
LOOKED_AT = 200


def check(app: Tenure) -> Iterator[Finding]:
    """Subscribers, events that nobody wants, and events that failed."""
    outbox = Outbox.of(app)
    active = [one for one in outbox.subscriptions() if one.active]
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


def _unwanted(types: list[str]) -> Finding:
    more = ", ..." if len(types) > SHOWN else ""
    fact = f"nobody subscribes to events of these types: {', '.join(types[:SHOWN])}{more}"
    todo = "run a worker whose code has @outbox.on(...) for them, then: tenure outbox retry ID"
    return Finding(Level.WARNING, "outbox", fact, todo)
