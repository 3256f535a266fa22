"""Settling runs: in the user's transaction, by themselves, or as far as no lock is in the way."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from tenure.core.errors import StoreBusy
from tenure.core.settlement import Settlement
from tenure.stores.contract import Written
from tenure.stores.sql.driver_errors import naming_refused_rows
from tenure.stores.sql.foreign.async_transaction import run_in_async
from tenure.stores.sql.foreign.transaction import run_in
from tenure.stores.sql.parts.part import SqlPart
from tenure.stores.sql.write.settle import (
    CAREFUL_SECONDS,
    PATIENCE_SECONDS,
    SettleResult,
    left_of,
    settle,
    settle_untied,
)
from tenure.wakeups.due_jobs import Due


class SqlSettling(SqlPart):
    """See `tenure.stores.contract.Settling`."""

    def settle(self, settlements: Sequence[Settlement], tx: Any = None) -> frozenset[str]:
        """End runs, waiting for locks."""
        if not settlements:
            return frozenset()
        if tx is not None or not self._database.dialect.loose:
            plan = partial(settle, settlements, self._endings)
            return self._after(run_in(self._database, tx, plan))
        done: set[int] = set()
        self._settle_loosely(settlements, None, done)
        ids = self._ended(done)
        rest = left_of(settlements, done)
        if not rest:
            return ids
        return self._after(self._database.run(partial(settle, rest, self._endings))) | ids

    async def settle_async(self, settlements: Sequence[Settlement], tx: Any) -> frozenset[str]:
        """End runs in an async foreign transaction."""
        plan = partial(settle, settlements, self._endings)
        return self._after(await run_in_async(self._database, tx, plan))

    def _settle_now(self, settlements: Sequence[Settlement], *, careful: bool) -> Written:
        """End runs as far as no other transaction is in the way."""
        done: set[int] = set()
        if self._database.dialect.loose and not careful:
            try:
                self._settle_loosely(settlements, PATIENCE_SECONDS, done)
            except StoreBusy:
                careful = True
        ids = self._ended(done)
        rest = left_of(settlements, done)
        if not rest:
            return Written(ids)
        written = self._try(rest, careful)
        return written._replace(applied=written.applied | ids)

    def _settle_loosely(
        self, settlements: Sequence[Settlement], patience: float | None, done: set[int]
    ) -> None:
        """Those that need one statement each, without a transaction; `done` is right even if a
        later statement fails.
        """
        simple = [item for item in settlements if item.entry is None and not item.returned]
        plan = partial(settle_untied, simple, patience, done)
        run = partial(self._database.run_loose, plan, once=patience is not None)
        naming_refused_rows(self._database.dialect, run)

    def _try(self, settlements: Sequence[Settlement], careful: bool) -> Written:
        """If a lock is met after all, halve the batch until the locked row is alone."""
        patience = CAREFUL_SECONDS if careful else PATIENCE_SECONDS
        plan = partial(settle, settlements, self._endings, patience, careful=careful)
        run = partial(self._database.run, plan, patience)
        try:
            return self._written(naming_refused_rows(self._database.dialect, run))
        except StoreBusy:
            if not careful:
                return self._try(settlements, careful=True)
            if len(settlements) == 1:
                return Written(locked=frozenset(item.lease.job_id for item in settlements))
        half = len(settlements) // 2
        first, second = (self._try(part, True) for part in (settlements[:half], settlements[half:]))
        return Written(first.applied | second.applied, first.locked | second.locked)

    def _written(self, result: SettleResult) -> Written:
        return Written(self._after(result), frozenset(map(str, result.locked)))

    def _ended(self, numbers: set[int]) -> frozenset[str]:
        ids = frozenset(map(str, numbers))
        self.lane_caches.ended(ids)
        return ids

    def _after(self, result: SettleResult) -> frozenset[str]:
        """Limits may have room, and released jobs want a worker. Answers the ids."""
        self.lane_caches.ended(result.ids)
        if result.freed:
            self.lane_caches.revive(result.freed)
            self._wakeups.tell(Due(frozenset(lane.queue for lane in result.freed)))
        return result.ids
