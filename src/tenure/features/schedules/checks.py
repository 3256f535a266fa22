"""What `tenure doctor` checks of schedules."""

from __future__ import annotations

from tenure.app import Tenure
from tenure.cli.kit.durations import span
from tenure.feature import Finding, Level
from tenure.features.schedules.schedules import Schedules

# A worker looks at least every five seconds; three missed looks are no chance.
LATE_SECONDS = 15.0


def late(app: Tenure) -> Finding:
    """Slots whose time is over and that no worker has fired."""
    now = app.store.now()
    active = [row for row in Schedules.of(app).list() if row.active]
    waits = {row.name: (now - row.next_at).total_seconds() for row in active}
    late = {name: wait for name, wait in waits.items() if wait > LATE_SECONDS}
    if not late:
        return Finding(Level.OK, "schedules", f"{len(active)} active, none late")
    named = ", ".join(f"{name} (for {span(wait)})" for name, wait in late.items())
    todo = (
        "start a worker; where WORKER_TICK_RUNNERS is set it must name schedules, or each of them"
    )
    return Finding(Level.WARNING, "schedules", f"not fired in time: {named}", todo)
