"""Operators' moves and purges, one bounded chunk at a time."""

from __future__ import annotations

from datetime import datetime
from functools import partial

from tenure.core.filter import JobFilter
from tenure.core.rules.retention import Purged
from tenure.stores.contract import Change, Changed, Move
from tenure.stores.sql.parts.part import SqlPart
from tenure.stores.sql.write import operator_moves
from tenure.stores.sql.write.purge import purge
from tenure.wakeups.due_jobs import ANY_QUEUE


class SqlChanging(SqlPart):
    """See `tenure.stores.contract.Changing`."""

    def change(
        self, where: JobFilter, change_: Change, after: str | None = None, limit: int = 500
    ) -> Changed:
        """One chunk of an operator's move."""
        self.lane_caches.forget()
        plan = partial(operator_moves.change, where, change_, after, limit, self._endings)
        done = self._database.run(plan)
        # A cancel may release jobs that waited, a retry makes jobs due.
        if done.changed and change_.move is not Move.REPRIORITISE:
            self._wakeups.tell(ANY_QUEUE)
        return done

    def purge(
        self, where: JobFilter, before: datetime, limit: int = 500, after: str | None = None
    ) -> Purged:
        """One chunk of a purge."""
        return self._database.run(partial(purge, where, before, limit, after, self._endings))
