"""What a worker does while it has no room for more jobs."""

from __future__ import annotations

import time

from tenure.core.timing.budget import Budget
from tenure.worker.changes import Changes
from tenure.worker.claiming.claimer import Claimer
from tenure.worker.running.slot_runner import SlotRunner
from tenure.worker.running.slots import Slots
from tenure.worker.settling.settler import Settler

# How often a full worker recovers lost leases and ends what expired; a claim does it otherwise.
UPKEEP_SECONDS = 1.0
# Settlements that go along with claims wait this long for the next one.
CARRY_SECONDS = 0.005


class WaitForRoom:
    """Settlements are written and lost leases recovered although nothing is claimed."""

    def __init__(
        self,
        slots: Slots,
        runner: SlotRunner,
        settler: Settler,
        claimer: Claimer,
        changes: Changes,
    ) -> None:
        self._slots = slots
        self._runner = runner
        self._settler = settler
        self._claimer = claimer
        self._changes = changes

    def room(self, at_most: int | None = None) -> dict[str, int]:
        """How many jobs to claim from each queue. None while a job has to run alone."""
        return {} if self._runner.lone.run is not None else self._slots.room(at_most)

    async def wait(self, budget: Budget) -> None:
        """Until something has changed, or a second is over."""
        if not (self._settler.with_claims and self._settler.backlog):
            left = budget.seconds_left
            await self._changes.wait(UPKEEP_SECONDS if left is None else min(left, UPKEEP_SECONDS))
        elif not await self._room_within(CARRY_SECONDS):
            # The line may be stuck behind slow handlers: what has ended is written without a claim.
            await self._settler.along(None)
        silent = time.monotonic() - self._claimer.claimed_at
        if silent >= UPKEEP_SECONDS and not self._runner.stopping:
            await self._claimer.claim_nothing()

    async def _room_within(self, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while self._slots.waiting:
            left = deadline - time.monotonic()
            if left <= 0 or self._runner.stopping:
                return False
            await self._changes.wait(left)
            self._changes.clear()
            if self.room():
                return True
        return False
