"""The jobs runner: keeps the slots full while something is due. No barrier between batches."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tenure.core.budget import Budget
from tenure.core.job import State
from tenure.core.lease import ClaimedJob, Lease
from tenure.core.outcome import Ending, Released
from tenure.core.settlement import decide
from tenure.engine import Tenure
from tenure.handlers import RunsIn
from tenure.stores.contract import Claim, ClaimRequest
from tenure.worker.heartbeat import Heartbeat
from tenure.worker.processes import Processes
from tenure.worker.run import SHUTDOWN, Place, Run, on_loop, run
from tenure.worker.settle import Settler
from tenure.worker.slots import Slots
from tenure.worker.threads import Threads

STOP_GRACE = 1.0
SOON = 60.0


class Pipeline:
    """Claims, runs and settles on one event loop; the store is called from two threads."""

    name = "jobs"

    def __init__(self, app: Tenure, owner: str, slots: Slots) -> None:
        self._app = app
        self._owner = owner
        self._slots = slots
        self._loop = asyncio.get_running_loop()
        self._store_threads = ThreadPoolExecutor(2, thread_name_prefix="tenure-store")
        self._threads = Threads(slots.total)
        self._processes = Processes(Threads(slots.total, "tenure-process"))
        self.heartbeat = Heartbeat(
            app.store.jobs,
            app.signals,
            lease_seconds=app.settings.lease_seconds,
            every=app.settings.renew_every,
            tell=self._tell,
        )
        self._changed = asyncio.Event()
        self._settler = Settler(app.store.jobs, app.signals, self._in_thread)
        self._settler.settled = self.heartbeat.forget
        self._settler.quiet = self._changed.set
        self._runs: dict[Lease, Run] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._turns = 0
        self.stopping = False

    @property
    def running(self) -> int:
        """Jobs whose handlers are at work."""
        return len(self._runs)

    @property
    def idle(self) -> bool:
        """Nothing runs, nothing waits to be written."""
        return not self._tasks and self._settler.idle

    async def turn(self, budget: Budget) -> int:
        """Claim and start until the budget is spent or nothing more is due; says how many."""
        started = 0
        while not budget.spent and not self.stopping:
            self._changed.clear()  # before looking, so that no change after the look is missed
            free = self._slots.free(budget.items_left)
            if not free or self._settler.backlog > self._slots.total * 4:
                await self.change(budget.seconds_left)
                continue
            asked = sum(free.values())
            claimed = await self._claim(free)
            started += len(claimed)
            budget.use(len(claimed))
            if len(claimed) < asked:
                break
        return started

    async def change(self, seconds: float | None) -> None:
        """Wait until something has changed since the last look: a slot, a write, a wake-up."""
        try:
            await asyncio.wait_for(self._changed.wait(), seconds)
        except TimeoutError:
            return

    def wake(self) -> None:
        """Look again now. Any thread may call it."""
        self._loop.call_soon_threadsafe(self._changed.set)

    async def drain(self, seconds: float, hurry: asyncio.Event) -> None:
        """Stop claiming, wait for what runs, then give the rest back with its attempt refunded."""
        self.stopping = True
        deadline = time.monotonic() + seconds
        hurried = asyncio.ensure_future(hurry.wait())
        while self._tasks and not hurry.is_set() and (left := deadline - time.monotonic()) > 0:
            first = asyncio.FIRST_COMPLETED
            await asyncio.wait({*self._tasks, hurried}, timeout=left, return_when=first)
        hurried.cancel()
        for current in list(self._runs.values()):
            current.interrupt(SHUTDOWN)
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=STOP_GRACE)
        for current in list(self._runs.values()):  # threads that do not end: the process will
            current.abandoned = True
            self._end(current, Released())
        await self._settler.flush(max(5.0, self._app.settings.lease_seconds / 2))

    def close(self) -> None:
        """After drain: let the threads go."""
        self._threads.close()
        self._processes.close()
        self._store_threads.shutdown(wait=False)

    async def _claim(self, free: dict[str, int]) -> list[ClaimedJob]:
        self._turns += 1
        request = ClaimRequest(
            owner=self._owner,
            kinds=self._app.handlers.kinds,
            slots=free,
            lease_seconds=self._app.settings.lease_seconds,
            turn=self._turns,
        )
        asked_at = time.monotonic()
        claim: Claim = await self._in_thread(self._app.store.jobs.claim, request)
        for job_id, state, reason in claim.ended:
            self._app.signals.emit("job.ended", id=job_id, state=state, reason=reason)
        for claimed in claim.jobs:
            self._start(claimed, asked_at)
        return list(claim.jobs)

    def _start(self, claimed: ClaimedJob, asked_at: float) -> None:
        handler = self._app.handlers.require(claimed.kind)
        current = Run(handler, claimed)
        self._slots.take(claimed.queue)
        self._runs[claimed.lease] = current
        self.heartbeat.watch(current, asked_at)
        self._app.signals.emit(
            "job.started", id=claimed.id, kind=claimed.kind, attempt=claimed.attempt
        )
        if self.stopping:  # the claim was under way when we were told to stop
            self._end(current, Released())
            return
        task = self._loop.create_task(self._work(current))
        self._tasks.add(task)
        task.add_done_callback(self._finished)

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._changed.set()

    async def _work(self, current: Run) -> None:
        ending = await run(current, self._place(current))
        if current.abandoned:
            return
        if current.job.joined:
            ending = await self._in_thread(self._look, current, ending)
        self._end(current, ending)

    def _place(self, current: Run) -> Place:
        match current.handler.options.runs_in:
            case RunsIn.LOOP:
                return on_loop
            case RunsIn.THREAD:
                return self._in_handler_thread
            case RunsIn.PROCESS:
                return self._processes.run

    async def _in_handler_thread(self, current: Run, arguments: dict[str, Any]) -> Any:
        return await self._threads.call(current.handler.function, current.job, **arguments)

    def _look(self, current: Run, ending: Ending | None) -> Ending | None:
        """The handler settled in its own transaction: did that commit?"""
        row = self._app.store.jobs.get(current.claimed.id)
        if row is None or row.fence != current.job.fence or row.lease_until is None:
            return None
        return ending

    def _end(self, current: Run, ending: Ending | None) -> None:
        """Free the slot; write the settlement, if there is one to write."""
        claimed = current.claimed
        if self._runs.pop(claimed.lease, None) is None:
            return
        current.ended = True
        self._slots.give_back(claimed.queue)
        if ending is None:
            self.heartbeat.forget(claimed.lease)
            self._app.signals.emit("job.let_go", id=claimed.id, settled=current.job.settled)
            return
        settlement = decide(claimed, ending, current.handler.options.retry, random.random)
        self._settler.put(settlement, current.job.take_news())
        if settlement.state is State.QUEUED and settlement.delay_seconds < SOON:
            self._loop.call_later(
                settlement.delay_seconds, self._changed.set
            )  # due before the poll

    def _tell(self, current: Run, reason: str) -> None:
        """From the heartbeat's thread."""
        self._loop.call_soon_threadsafe(current.interrupt, reason)

    async def _in_thread(self, function: Callable[..., Any], *args: Any) -> Any:
        return await self._loop.run_in_executor(self._store_threads, function, *args)
