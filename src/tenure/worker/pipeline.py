"""The jobs runner: keeps the slots full while something is due. No barrier between batches."""

from __future__ import annotations

import asyncio
import random
import time
from typing import Any

from tenure.app import Tenure
from tenure.core.errors import StoreUnavailable
from tenure.core.job import Job
from tenure.core.lease import ClaimedJob, Lease
from tenure.core.outcome import Ending, Raised, Released, Returned
from tenure.core.rules.retry import Exponential
from tenure.core.rules.run_again import decide
from tenure.core.settlement import SettledRun, Settlement
from tenure.core.timing.budget import Budget
from tenure.jobs.handler import RunsIn
from tenure.stores.contract import Claim, ClaimRequest
from tenure.worker.claim_terms import ClaimTerms
from tenure.worker.processes.isolation import Isolation, SuspectRuns
from tenure.worker.processes.process_runs import Processes
from tenure.worker.running.begun_reports import Beginnings
from tenure.worker.running.run import LOST, SHUTDOWN, Run
from tenure.worker.running.slot_runner import Serving
from tenure.worker.running.slots import Slots
from tenure.worker.running.threads import Threads
from tenure.worker.scope import Scope
from tenure.worker.settling.heartbeat import Heartbeat
from tenure.worker.settling.settler import Settler
from tenure.worker.wake_timer import Alarm

STOP_GRACE = 1.0
LOOK_AGAIN = 0.5
SOON = 60.0
DUE_MARGIN = 0.002
CARRY_SECONDS = 0.005
MOST_UNSETTLED = 5_000
UPKEEP_SECONDS = 1.0


class Pipeline:
    """Claims, runs and settles on one event loop; the store is called from three threads."""

    def __init__(
        self,
        app: Tenure,
        owner: str,
        slots: Slots,
        scope: Scope,
        isolation: Isolation | None = None,
    ) -> None:
        self._app = app
        self._scope = scope
        self._slots = slots
        self.terms = ClaimTerms(app, owner, scope)
        self._loop = asyncio.get_running_loop()
        self._store_threads = Threads(3, "tenure-store")
        self._in_thread = self._store_threads.submit
        self._threads = Threads(slots.total)
        self._processes = Processes(Threads(slots.total, "tenure-process"))
        self._held: dict[str, Run] = {}
        self.heartbeat = Heartbeat(app.store, app.signals, self._held, self._tell)
        self.heartbeat.lease_seconds = scope.lease_seconds
        self.heartbeat.every = scope.renew_every
        self._changed = asyncio.Event()
        self.alarm = Alarm(slots.lanes, self._changed.set)
        self._settler = Settler(app.store.jobs, app.signals, self._in_thread)
        self._settler.carried = app.store.fused
        self._settler.settled = self._forget_all
        self._settler.requeued = self._requeued
        self._settler.quiet = self._quiet
        self._settler.ended = app.store.wakeups.ended_jobs.finished
        places = {RunsIn.THREAD: self._in_handler_thread, RunsIn.PROCESS: self._processes.run}
        beginnings = Beginnings(app.store.jobs, app.signals, self._in_thread, self._announced)
        self._serving = Serving(
            slots, app.signals, places, beginnings, self._done, self._settler.write_out
        )
        self._working = self._serving.working
        self._isolation = isolation
        if isolation is not None:
            watchers = Threads(slots.total, "tenure-apart")
            self._serving.apart = SuspectRuns(isolation, watchers).run
        self._claimed_at = 0.0
        self.returned = 0

    @property
    def stopping(self) -> bool:
        """Nothing more is claimed or started."""
        return self._serving.stopping

    @stopping.setter
    def stopping(self, told: bool) -> None:
        self._serving.stopping = told

    @property
    def running(self) -> int:
        """Jobs whose handlers are at work."""
        return len(self._working)

    @property
    def idle(self) -> bool:
        """Nothing runs or waits here, everything is written."""
        return not self._held and not self._working and self._settler.idle

    async def turn(self, budget: Budget, *, thorough: bool = False) -> int:
        """Claim and start until the budget is spent or nothing more is due; says how many.

        Where it is the last look, let it be a `thorough` one.
        """
        started = 0
        while not budget.spent and not self.stopping:
            self._changed.clear()  # before looking, so that no change after the look is missed
            room = self._room(budget.items_left)
            if not room or self._settler.unwritten > MOST_UNSETTLED:
                await self._without_claim(budget)
                await self._keep_up()
                continue
            claim = await self._claim(room, self.alarm.take(), thorough)
            thorough = False
            started += len(claim.jobs)
            budget.use(len(claim.jobs))
            if claim.look_in:
                self._loop.call_later(claim.look_in, self._changed.set)
            if len(claim.jobs) < sum(room.values()) and claim.look_in != 0.0:
                await asyncio.sleep(0)  # what has just begun goes first, then the next look
                break
        return started

    async def started(self, budget: Budget) -> None:
        """Wait until what was claimed has left the line, as far as there is time."""
        while self._slots.waiting and not self.stopping and budget.seconds_left != 0.0:
            self._changed.clear()
            if self._slots.starting:
                await asyncio.sleep(0)
            else:
                await self.change(budget.seconds_left)

    async def _without_claim(self, budget: Budget) -> None:
        """No room: wait. Where a claim carries what ended, that waits for the next one, but not
        for long: the line may be stuck behind slow handlers.
        """
        if not (self._settler.carried and self._settler.backlog):
            left = budget.seconds_left
            await self.change(UPKEEP_SECONDS if left is None else min(left, UPKEEP_SECONDS))
        elif not await self._room_within(CARRY_SECONDS):
            await self._settler.along(None)

    async def _keep_up(self) -> None:
        """A full worker still puts back what others left behind, and ends what expired."""
        if time.monotonic() - self._claimed_at < UPKEEP_SECONDS or self.stopping:
            return
        self._claimed_at = time.monotonic()
        request = self.terms.request(self._slots, {}, frozenset(), thorough=True)
        self._tell_ended(await self._exchange(request))

    async def _room_within(self, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while self._slots.waiting:
            left = deadline - time.monotonic()
            if left <= 0 or self.stopping:
                return False
            await self.change(left)
            self._changed.clear()
            if self._room():
                return True
        return False

    def _room(self, at_most: int | None = None) -> dict[str, int]:
        """Nothing while a job is to run alone."""
        return {} if self._serving.alone else self._slots.room(at_most)

    def _quiet(self) -> None:
        """Something was written: there may be room, and nothing in our hands but one that waits."""
        self._changed.set()
        self._serving.prepare_alone()

    async def change(self, seconds: float | None) -> None:
        """Wait until something has changed since the last look: a slot, a write, a wake-up."""
        if seconds is None:
            await self._changed.wait()
            return
        timer = self._loop.call_later(seconds, self._changed.set)
        await self._changed.wait()
        timer.cancel()

    def stop(self) -> None:
        """Claim nothing more."""
        self.stopping = True
        self._changed.set()

    async def drain(self, seconds: float, hurry: asyncio.Event) -> None:
        """Stop claiming, wait for what runs, then give the rest back with its attempt refunded."""
        self.stopping = True
        for lane in self._slots.lanes.values():
            while lane.waiting:
                self._end(lane.waiting.popleft(), Returned())
        deadline = time.monotonic() + seconds
        hurried = asyncio.ensure_future(self._when(hurry))
        while self._working and not hurry.is_set() and (left := deadline - time.monotonic()) > 0:
            self._changed.clear()
            await self.change(left)
        hurried.cancel()
        for current in list(self._working):
            current.interrupt(SHUTDOWN)
        deadline = time.monotonic() + STOP_GRACE
        while self._working and (left := deadline - time.monotonic()) > 0:
            self._changed.clear()
            await self.change(left)
        for current in list(self._working):  # threads that do not end: the process will
            self._end(current, Released())
        await self._settler.flush(max(5.0, self._scope.lease_seconds / 2))

    async def _when(self, hurry: asyncio.Event) -> None:
        await hurry.wait()
        self._changed.set()

    def close(self) -> None:
        """After drain: let the threads go."""
        self._threads.close()
        self._processes.close()
        self._store_threads.close()

    async def _claim(self, room: dict[str, int], woken: frozenset[str], thorough: bool) -> Claim:
        self._claimed_at = asked_at = time.monotonic()
        request = self.terms.request(self._slots, room, woken, thorough=thorough)
        claim = await self._exchange(request)
        self._app.signals.emit(
            "jobs.claimed", jobs=len(claim.jobs), seconds=time.monotonic() - asked_at
        )
        self._tell_ended(claim)
        trusted = self.heartbeat.trusted_until(asked_at)
        for claimed in claim.jobs:
            self._accept(claimed, trusted)
        for queue in room:
            self._serving.go_on(self._slots.lanes[queue])
        self.alarm.answered(bool(claim.jobs))
        return claim

    def _tell_ended(self, claim: Claim) -> None:
        """What a claim has ended or put back on its way."""
        self._settler.ended([job_id for job_id, _, _ in claim.ended])
        for job_id, state, reason in claim.ended:
            self._app.signals.emit("job.ended", id=job_id, state=state, reason=reason)
        if claim.released:
            self._app.signals.emit("jobs.recovered", jobs=len(claim.released))

    async def _exchange(self, request: ClaimRequest) -> Claim:
        """On a database with one writer the settlements go along; elsewhere they overlap."""
        jobs = self._app.store.jobs
        if not self._app.store.fused:
            claim: Claim = await self._in_thread(jobs.claim, request)
            return claim
        return await self._settler.along(request)

    def _accept(self, claimed: ClaimedJob, trusted: float) -> None:
        """Into the line before its slots."""
        current = Run(self._app.handlers.require(claimed.kind), claimed, trusted)
        job_id = claimed.lease.job_id
        earlier = self._held.get(job_id)
        if earlier is not None:  # our own lease of this job ran out, and we took it again
            earlier.interrupt(LOST)
        self._held[job_id] = current
        if self.stopping:  # the claim was under way when we were told to stop
            self._end(current, Returned())
        elif current.suspect and self._alone:
            if not self._serving.run_alone(current):
                self._end(current, Returned())
        elif self._serving.alone is not None:
            self._end(current, Returned())
        else:
            self._line_up(current)

    def _announced(self, current: Run, refused: bool) -> None:
        """A suspect may begin alone; or it may not, as its row could not be written."""
        if refused:
            self._end(current, Returned())
        else:
            self._serving.announced()

    def _line_up(self, current: Run) -> None:
        """Before its slots. A rate holds for what begins: where that is not now, it goes back."""
        lane, kind = self._slots.lanes[current.claimed.queue], current.claimed.kind
        if kind in self.terms.limits.rated and not lane.rated:
            lane.rated = True  # it came by another queue than its handler's
            if lane.free <= 0:
                self._end(current, Returned())
                return
        lane.waiting.append(current)

    @property
    def _alone(self) -> bool:
        return self._isolation is None or self._isolation.broken

    def _in_handler_thread(self, current: Run, arguments: dict[str, Any]) -> asyncio.Future[Any]:
        return self._threads.submit(current.handler.function, current.job, **arguments)

    def _done(self, current: Run, ending: Ending | None) -> None:
        if current.ended:
            return
        if current.job.joined:
            self._loop.create_task(self._after_joining(current, ending))
        else:
            self._end(current, ending)

    async def _after_joining(self, current: Run, ending: Ending | None) -> None:
        """The handler settled in its own transaction: did that commit?"""
        row = await self._look(current.claimed.id)
        ours = row is not None and row.fence == current.job.fence
        held = ours and row is not None and row.lease_until is not None
        if not ours:
            current.job.settlement = None
        self._end(current, ending if held else None)

    async def _look(self, job_id: str) -> Job | None:
        """The job's row, as soon as the database can be asked."""
        while True:
            try:
                row: Job | None = await self._in_thread(self._app.store.jobs.get, job_id)
            except StoreUnavailable as error:
                self._app.signals.emit("store.unavailable", error=error, step="look")
                await asyncio.sleep(LOOK_AGAIN)
            else:
                return row

    def _end(self, current: Run, ending: Ending | None) -> None:
        """Free the slot for the next; write the settlement, if there is one to write."""
        if current.ended:
            return
        current.ended = True
        self.returned += isinstance(ending, Returned)
        self._serving.leave(current)
        settlement: Settlement | None
        if ending is None:
            lease = current.claimed.lease
            self._forget(lease)
            self._app.signals.emit("job.let_go", id=lease.job_id, settled=current.job.settled)
            self._settler.ended([lease.job_id])
            settlement = current.job.settlement
            if settlement is not None:
                settled = SettledRun(current.claimed, settlement, current.seconds)
                self._app.signals.emit("jobs.settled", batch=[settled])
        else:
            settlement = _decided(current, ending)
            self._settler.put(settlement, current.job.take_news())
        if current.span is not None:
            current.span.end(settlement)
        self._changed.set()

    def _requeued(self, queue: str, seconds: float) -> None:
        """Written, so that its time is counted from now: look when it is due, and just for it."""
        if seconds < SOON:
            self._loop.call_later(seconds + DUE_MARGIN, self.alarm.heard, (queue,))

    def _tell(self, current: Run, reason: str) -> None:
        """From the heartbeat's thread."""
        self._loop.call_soon_threadsafe(current.interrupt, reason)

    def _forget_all(self, batch: list[Settlement]) -> list[Run | None]:
        """The runs that these were the end of."""
        return [self._forget(item.lease) for item in batch]

    def _forget(self, lease: Lease) -> Run | None:
        held = self._held.get(lease.job_id)
        if held is None or held.claimed.lease.fence != lease.fence:
            return None
        del self._held[lease.job_id]
        return held


def _decided(current: Run, ending: Ending) -> Settlement:
    """A retry policy is the user's code, and may fail too: then the error is the ending."""
    policy = current.handler.options.retry
    try:
        return decide(current.claimed, ending, policy, random.random)
    except Exception as error:
        return decide(current.claimed, Raised(error), Exponential(), random.random)
