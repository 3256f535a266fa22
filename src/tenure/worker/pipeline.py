"""The jobs runner: keeps the slots full while something is due. No barrier between batches."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress

from tenure.app import Tenure
from tenure.core.timing.budget import Budget
from tenure.stores.contract import Claim
from tenure.worker.assignment import Assignment
from tenure.worker.changes import Changes
from tenure.worker.claiming.claim_terms import ClaimTerms
from tenure.worker.claiming.claimer import Claimer
from tenure.worker.claiming.intake import Intake
from tenure.worker.claiming.wait_for_room import WaitForRoom
from tenure.worker.claiming.wake_timer import WakeTimer
from tenure.worker.held_runs import HeldRuns
from tenure.worker.processes.isolation import Isolation
from tenure.worker.running.begun_reports import BegunReports
from tenure.worker.running.slot_runner import SlotRunner
from tenure.worker.running.slots import Slots
from tenure.worker.running.starters import Starters
from tenure.worker.running.threads import Threads
from tenure.worker.settling.class_counts import ClassCounts
from tenure.worker.settling.finish import Finisher
from tenure.worker.settling.foreign_commits import ForeignCommits
from tenure.worker.settling.settled_runs import SettledRuns
from tenure.worker.settling.settler import Settler
from tenure.worker.shutdown import Shutdown
from tenure.worker.upkeep.rollups import Rollups

# One for a claim, one for a batch of settlements, one for what is tried again or looked up.
STORE_THREADS = 3
# A database that is this far behind gets no new jobs to end.
MOST_UNSETTLED = 2_000


class Pipeline:
    """Claims, runs and settles on one event loop; the store is called from threads.

    The parts are made in the order of the walk backwards: each gets what it hands its values to.
    What several of them need (held runs, changes, slots) is made first.
    """

    def __init__(
        self,
        app: Tenure,
        owner: str,
        slots: Slots,
        assignment: Assignment,
        isolation: Isolation | None = None,
    ) -> None:
        signals, store = app.signals, app.store
        self._loop = asyncio.get_running_loop()
        self._slots = slots
        self._assignment = assignment
        self._next_look: asyncio.TimerHandle | None = None
        self.held = HeldRuns()
        self.changes = Changes()
        self.wake_timer = WakeTimer(slots.lines, self.changes.tell)
        self.terms = ClaimTerms(app, owner, assignment, slots)
        self._store_threads = Threads(STORE_THREADS, "tenure-store")
        in_thread = self._store_threads.submit
        tell_ended = store.wakeups.ended_jobs.finished
        self.rollups = Rollups(store)
        settled = SettledRuns(self.held, signals, tell_ended, self.wake_timer.due_in, self.rollups)
        self._settler = Settler(store, signals, in_thread, settled, self.changes)
        foreign = ForeignCommits(store.jobs, signals, in_thread)
        counts = ClassCounts(store.jobs, signals, in_thread)
        self._finisher = finisher = Finisher(
            signals,
            self._settler,
            self.held,
            self.changes,
            foreign,
            counts,
            tell_ended,
            self.rollups,
        )
        self._starters = Starters(app, slots.total, isolation)
        begun = BegunReports(store.jobs, signals, in_thread)
        self._runner = SlotRunner(
            slots, signals, self._starters, begun, finisher, self._settler.written_out
        )
        self._accept = Intake(
            app.handlers, self.held, slots, self.terms, self._starters, self._runner, finisher
        ).accept
        self._claimer = Claimer(app, self.terms, self._settler, in_thread, tell_ended)
        self._full = WaitForRoom(slots, self._runner, self._settler, self._claimer, self.changes)
        self._shutdown = Shutdown(slots, self._runner, finisher, self._settler, self.changes)

    @property
    def stopping(self) -> bool:
        """Whether nothing more is claimed or started."""
        return self._runner.stopping

    @property
    def running(self) -> int:
        """Handlers at work."""
        return len(self._slots.working)

    @property
    def returned(self) -> int:
        """Jobs that went back to the queue before they began."""
        return self._finisher.returned

    @property
    def idle(self) -> bool:
        """Whether nothing runs or waits here, and everything is written."""
        return not self.held and not self._slots.working and self._settler.idle

    async def turn(self, budget: Budget, *, thorough: bool = False) -> int:
        """Claim and start until the budget is spent or nothing more is due; returns how many.

        A `thorough` look sweeps all lanes: use it if no other look will follow soon.
        """
        started = 0
        while not budget.spent and not self.stopping:
            self.changes.clear()  # before looking, so that no change after the look is missed
            room = self._full.room(budget.items_left)
            if not room or self._settler.unwritten > MOST_UNSETTLED:
                await self._full.wait(budget)
                continue
            claim = await self._claim(room, thorough)
            thorough = False
            started += len(claim.jobs)
            budget.use(len(claim.jobs))
            if claim.look_in:
                self._look_again(claim.look_in)
            if len(claim.jobs) < sum(room.values()) and claim.look_in != 0.0:
                await asyncio.sleep(0)  # what has just begun goes first, then the next look
                break
        return started

    async def started(self, budget: Budget) -> None:
        """Wait until what was claimed has left the line, as far as there is time."""
        while self._slots.waiting and not self.stopping and budget.seconds_left != 0.0:
            self.changes.clear()
            if self._slots.starting:
                await asyncio.sleep(0)
            else:
                await self.changes.wait(budget.seconds_left)

    def stop(self) -> None:
        """Claim and start nothing more."""
        self._runner.stopping = True
        self.changes.tell()

    async def drain(self, seconds: float, hurry: asyncio.Event) -> None:
        """Stop, wait for what runs, give the rest back; see `shutdown.py`."""
        await self._shutdown.drain(seconds, hurry, self._assignment.lease_seconds)

    def close(self) -> None:
        """Let the threads go, after `drain`."""
        self._starters.close()
        self._store_threads.close()

    def hold(self, gate: str) -> None:
        """A kind or a key was held in this process. Any thread may call it."""
        with suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self._runner.return_held, (gate,))

    def _look_again(self, seconds: float) -> None:
        """In so many seconds, unless a look is due before that. One timer for all: each look may
        ask for another.
        """
        at, timer = self._loop.time() + seconds, self._next_look
        if timer is not None and not timer.cancelled() and self._loop.time() < timer.when() <= at:
            return
        if timer is not None:
            timer.cancel()
        self._next_look = self._loop.call_at(at, self.changes.tell)

    async def _claim(self, room: dict[str, int], thorough: bool) -> Claim:
        asked_at = time.monotonic()
        claim = await self._claimer.claim(room, self.wake_timer.take(), thorough=thorough)
        trusted_until = self._assignment.trusted_until(asked_at)
        if claim.held:
            self._runner.return_held(claim.held)
        for claimed in claim.jobs:
            self._accept(claimed, trusted_until)
        for queue in room:
            self._runner.go_on(self._slots.lines[queue])
        self.wake_timer.answered(bool(claim.jobs))
        return claim
