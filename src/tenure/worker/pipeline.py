"""The jobs runner: keeps the slots full while something is due. No barrier between batches."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tenure.core.budget import Budget
from tenure.core.errors import StoreUnavailable
from tenure.core.job import Job, State
from tenure.core.lease import ClaimedJob
from tenure.core.outcome import Ending, Raised, Released
from tenure.core.retry import Exponential
from tenure.core.settlement import Settlement, decide
from tenure.engine import Tenure
from tenure.handlers import RunsIn
from tenure.stores.contract import Claim, ClaimRequest
from tenure.worker.heartbeat import Heartbeat
from tenure.worker.processes import Processes
from tenure.worker.run import LOST, SHUTDOWN, Place, Run, on_loop
from tenure.worker.settle import Settler
from tenure.worker.slots import Slots
from tenure.worker.threads import Threads

STOP_GRACE = 1.0
TIME_CHECK = 0.05
LOOK_AGAIN = 0.5
SOON = 60.0
MOST_UNSETTLED = 5_000


class Pipeline:
    """Claims, runs and settles on one event loop; the store is called from two threads."""

    def __init__(self, app: Tenure, owner: str, slots: Slots) -> None:
        self._app = app
        self._owner = owner
        self._slots = slots
        self._loop = asyncio.get_running_loop()
        self._store_threads = ThreadPoolExecutor(2, thread_name_prefix="tenure-store")
        self._threads = Threads(slots.total)
        self._processes = Processes(Threads(slots.total, "tenure-process"))
        self._held: dict[str, Run] = {}
        self._working: set[Run] = set()
        self.heartbeat = Heartbeat(app.store.jobs, app.signals, self._held, self._tell)
        self.heartbeat.lease_seconds = app.settings.lease_seconds
        self.heartbeat.every = app.settings.renew_every
        self._changed = asyncio.Event()
        self._settler = Settler(app.store.jobs, app.signals, self._in_thread)
        self._settler.carried = app.store.fused
        self._settler.settled = self._forget
        self._settler.quiet = self._changed.set
        self._places: dict[RunsIn, Place] = {
            RunsIn.LOOP: on_loop,
            RunsIn.THREAD: self._in_handler_thread,
            RunsIn.PROCESS: self._processes.run,
        }
        self._watch: asyncio.TimerHandle | None = None
        self._turns = 0
        self.stopping = False

    @property
    def running(self) -> int:
        """Jobs whose handlers are at work."""
        return len(self._working)

    @property
    def idle(self) -> bool:
        """Nothing runs or waits here, everything is written."""
        return not self._held and not self._working and self._settler.idle

    async def turn(self, budget: Budget) -> int:
        """Claim and start until the budget is spent or nothing more is due; says how many."""
        started = 0
        while not budget.spent and not self.stopping:
            self._changed.clear()  # before looking, so that no change after the look is missed
            room = self._slots.room(budget.items_left)
            if not room or self._settler.backlog > MOST_UNSETTLED:
                await self._without_claim(budget)
                continue
            claimed = await self._claim(room)
            started += len(claimed)
            budget.use(len(claimed))
            if len(claimed) < sum(room.values()):
                break
        return started

    async def _without_claim(self, budget: Budget) -> None:
        """No room: write what ended, where the claim would have carried it, or wait."""
        if self._settler.carried and self._settler.backlog:
            await self._settler.along(None)
        else:
            await self.change(budget.seconds_left)

    async def change(self, seconds: float | None) -> None:
        """Wait until something has changed since the last look: a slot, a write, a wake-up."""
        if seconds is None:
            await self._changed.wait()
            return
        timer = self._loop.call_later(seconds, self._changed.set)
        await self._changed.wait()
        timer.cancel()

    def wake(self) -> None:
        """Look again now. Any thread may call it."""
        self._loop.call_soon_threadsafe(self._changed.set)

    async def drain(self, seconds: float, hurry: asyncio.Event) -> None:
        """Stop claiming, wait for what runs, then give the rest back with its attempt refunded."""
        self.stopping = True
        for lane in self._slots.lanes.values():
            while lane.waiting:
                self._end(lane.waiting.popleft(), Released())
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
        await self._settler.flush(max(5.0, self._app.settings.lease_seconds / 2))

    async def _when(self, hurry: asyncio.Event) -> None:
        await hurry.wait()
        self._changed.set()

    def close(self) -> None:
        """After drain: let the threads go."""
        self._threads.close()
        self._processes.close()
        self._store_threads.shutdown(wait=False)

    async def _claim(self, room: dict[str, int]) -> list[ClaimedJob]:
        self._turns += 1
        request = ClaimRequest(
            owner=self._owner,
            kinds=self._app.handlers.kinds,
            slots=room,
            lease_seconds=self._app.settings.lease_seconds,
            turn=self._turns,
        )
        asked_at = time.monotonic()
        claim = await self._exchange(request)
        for job_id, state, reason in claim.ended:
            self._app.signals.emit("job.ended", id=job_id, state=state, reason=reason)
        trusted = self.heartbeat.trusted_until(asked_at)
        for claimed in claim.jobs:
            if claimed.id in claim.again:
                self._slots.lanes[claimed.queue].be_careful()
            self._accept(claimed, trusted)
        return list(claim.jobs)

    async def _exchange(self, request: ClaimRequest) -> Claim:
        """On a database with one writer the settlements go along; elsewhere they overlap."""
        jobs = self._app.store.jobs
        if not self._app.store.fused:
            claim: Claim = await self._in_thread(jobs.claim, request)
            return claim
        return await self._settler.along(request)

    def _accept(self, claimed: ClaimedJob, trusted: float) -> None:
        """Into a slot, or into the short line before it."""
        current = Run(self._app.handlers.require(claimed.kind), claimed, trusted)
        earlier = self._held.get(claimed.id)
        if earlier is not None:  # our own lease of this job ran out, and we took it again
            earlier.interrupt(LOST)
        self._held[claimed.id] = current
        lane = self._slots.lanes[claimed.queue]
        if self.stopping:  # the claim was under way when we were told to stop
            self._end(current, Released())
        elif lane.busy < lane.size:
            self._start(current)
        else:
            lane.waiting.append(current)

    def _start(self, current: Run) -> None:
        claimed = current.claimed
        self._slots.lanes[claimed.queue].busy += 1
        self._working.add(current)
        if self._watch is None:
            self._watch = self._loop.call_later(TIME_CHECK, self._check_times)
        if self._app.signals.heard("job.started"):
            self._app.signals.emit(
                "job.started", id=claimed.id, kind=claimed.kind, attempt=claimed.attempt
            )
        current.start(self._places[current.handler.options.runs_in], self._done)

    def _check_times(self) -> None:
        """One look at all that runs is cheaper than a timer for each."""
        now = time.monotonic()
        for current in list(self._working):
            current.check_time(now)
        again = bool(self._working)
        self._watch = self._loop.call_later(TIME_CHECK, self._check_times) if again else None

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
        held = row is not None and row.fence == current.job.fence and row.lease_until is not None
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
        claimed = current.claimed
        if current in self._working:
            self._leave_slot(current)
        if ending is None:
            self._forget(claimed.id, claimed.lease.fence)
            self._app.signals.emit("job.let_go", id=claimed.id, settled=current.job.settled)
        else:
            settlement = _decided(current, ending)
            self._settler.put(settlement, current.job.take_news())
            if settlement.state is State.QUEUED and settlement.delay_seconds < SOON:
                self._loop.call_later(settlement.delay_seconds, self._changed.set)
        self._changed.set()

    def _leave_slot(self, current: Run) -> None:
        self._working.discard(current)
        lane = self._slots.lanes[current.claimed.queue]
        lane.busy -= 1
        if current.begun is not None:
            lane.took(time.monotonic() - current.begun)
        while lane.waiting and lane.busy < lane.size and not self.stopping:
            waiting = lane.waiting.popleft()
            if waiting.job.stop_reason is None:
                self._start(waiting)
            else:  # lost or cancelled before it began
                self._end(waiting, None if waiting.job.stop_reason == LOST else Released())

    def _tell(self, current: Run, reason: str) -> None:
        """From the heartbeat's thread."""
        self._loop.call_soon_threadsafe(current.interrupt, reason)

    def _forget(self, job_id: str, fence: int) -> None:
        held = self._held.get(job_id)
        if held is not None and held.claimed.lease.fence == fence:
            del self._held[job_id]

    async def _in_thread(self, function: Callable[..., Any], *args: Any) -> Any:
        return await self._loop.run_in_executor(self._store_threads, function, *args)


def _decided(current: Run, ending: Ending) -> Settlement:
    """A retry policy is the user's code, and may fail too: then the error is the ending."""
    policy = current.handler.options.retry
    try:
        return decide(current.claimed, ending, policy, random.random)
    except Exception as error:
        return decide(current.claimed, Raised(error), Exponential(), random.random)
