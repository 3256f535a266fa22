"""Lifts what has waited too long, in queues that say so: a few seconds apart in the whole fleet."""

from __future__ import annotations

from tenure.app import Tenure

EVERY_SECONDS = 2.0
PARTS = 10
LOCK = "ageing:"


class Lifter:
    """One per worker. Where no queue of its app ages, a turn costs nothing."""

    def __init__(self, app: Tenure, owner: str) -> None:
        self._app = app
        self._owner = owner

    @property
    def wanted(self) -> bool:
        """Whether there is anything to do."""
        return bool(self._app.queues.ageing)

    def turn(self) -> int:
        """How many jobs were lifted. The lock is kept until it runs out: that is the pace."""
        return sum(self._lift(queue, age) for queue, age in self._app.queues.ageing.items())

    def _lift(self, queue: str, seconds: float) -> int:
        store = self._app.store
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
