"""Raises the priority of jobs that have waited too long, in queues with the option `ageing`."""

from __future__ import annotations

from tenure.app import Tenure

EVERY_SECONDS = 2.0
# A bounded number of statements in a turn, so that one queue does not delay the next.
PARTS = 10
LOCK = "ageing:"


class Ageing:
    """One per worker. If no queue of its app ages, a turn costs nothing."""

    def __init__(self, app: Tenure, owner: str) -> None:
        self._app = app
        self._owner = owner

    @property
    def wanted(self) -> bool:
        """Whether any queue ages."""
        return bool(self._app.queues.ageing)

    def turn(self) -> int:
        """Lift jobs of all queues that age; returns how many."""
        return sum(self._lift(queue, age) for queue, age in self._app.queues.ageing.items())

    def _lift(self, queue: str, seconds: float) -> int:
        store = self._app.store
        # The lock is never released: it runs out, and that sets the pace of the whole fleet.
        if store.locks.acquire(LOCK + queue, self._owner, EVERY_SECONDS * 0.9) is None:
            return 0
        total = 0
        for _ in range(PARTS):
            lifted = store.queues.lift(queue, seconds)
            total += lifted
            if not lifted:
                break
        if total:
            self._app.signals.emit("jobs.lifted", queue=queue, jobs=total, seconds=seconds)
        return total
