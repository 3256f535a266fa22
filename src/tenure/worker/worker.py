"""A worker: one process that runs an app's jobs: until told to stop, or for one tick."""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
import socket
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, astuple
from datetime import UTC, datetime
from importlib.util import find_spec
from typing import Any

from tenure.app import Tenure
from tenure.core.timing.budget import Budget
from tenure.operations.insight import WORKERS
from tenure.operations.queue_options import AS_USUAL
from tenure.stores.contract.parts import Record
from tenure.worker.ageing import Lifter
from tenure.worker.background import (
    keep_lifting,
    keep_listening,
    keep_pruning,
    keep_punctual,
    keep_ticking,
    keep_working,
)
from tenure.worker.pipeline import Pipeline
from tenure.worker.processes.isolation import Isolation
from tenure.worker.pruning import PRUNING, Pruner, in_daemon
from tenure.worker.scope import JOBS, JobsRunner, named, scope_of, slots_of
from tenure.worker.settings import WorkerSettings
from tenure.worker.tick import (
    Step,
    TickReport,
    choose,
    patience,
    step_of,
    tick,
    whole_budget,
)

FORGOTTEN_SECONDS = 3_600.0
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Worker:
    """`Worker(app).run()` works until SIGTERM; `with Worker(app):` works in a thread meanwhile."""

    def __init__(
        self,
        app: Tenure,
        *,
        concurrency: int | None = None,
        queues: Mapping[str, int] | None = None,
        settings: WorkerSettings | None = None,
    ) -> None:
        self.app = app
        app.features.load()
        self.settings = settings or WorkerSettings()
        self.id = f"{socket.gethostname()[:40]}:{os.getpid()}:{secrets.token_hex(4)}"
        self._lifter = Lifter(app, self.id)
        self._scope = scope_of(app, self.settings)
        concurrency = concurrency or app.settings.concurrency
        self._slots = slots_of(app, self._scope, concurrency, queues)
        self._started_at = datetime.now(UTC).isoformat()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._hurry: asyncio.Event | None = None
        self._thread: threading.Thread | None = None
        self._ready = threading.Event()
        self._started = asyncio.Event()
        self._task: asyncio.Future[None] | None = None
        self._refused: Exception | None = None
        self._isolation: Isolation | None = None

    def run(self) -> None:
        """Work until SIGINT or SIGTERM; a second signal gives everything back at once."""
        self.isolate()
        try:
            run_loop(self._foreground)
        finally:
            if self._isolation is not None:
                self._isolation.close()

    def isolate(self) -> None:
        """Prepare for jobs that must run in a process of their own, as long as this process has no
        other thread. `run` does so by itself; call it earlier where threads are started before.
        """
        if self._isolation is None and self.settings.isolation == "process":
            self._isolation = Isolation.prepare(self.app)

    def tick(self) -> TickReport:
        """One tick within the budgets of the settings, then stop."""
        report: TickReport = run_loop(self._one_tick)
        return report

    async def tick_async(self) -> TickReport:
        """The same on the running loop."""
        return await self._one_tick()

    def run_until_idle(self) -> int:
        """Run whatever is due, and what that enqueues, until nothing is; says how many."""
        return int(run_loop(self._until_idle))

    def stop(self) -> None:
        """Ask it to stop; asked again, it hurries. Any thread may call it."""
        if self._loop is not None:
            with suppress(RuntimeError):  # it has stopped already
                self._loop.call_soon_threadsafe(self._asked_to_stop)

    def __enter__(self) -> Worker:
        self._thread = threading.Thread(target=self._serve, name="tenure-worker", daemon=True)
        self._thread.start()
        self._ready.wait()
        if self._refused is not None:
            raise self._refused
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        if self._thread is not None:
            self._thread.join()

    def _serve(self) -> None:
        try:
            run_loop(self._embedded)
        except Exception as error:
            if self._ready.is_set():
                raise
            self._refused = error
            self._ready.set()

    async def __aenter__(self) -> Worker:
        """Works on the running loop meanwhile: for an app's own lifespan."""
        self._started = asyncio.Event()
        self._task = asyncio.ensure_future(self._embedded())
        started = asyncio.ensure_future(self._started.wait())
        try:
            await asyncio.wait({self._task, started}, return_when=asyncio.FIRST_COMPLETED)
        except BaseException:
            self._task.cancel()
            raise
        finally:
            started.cancel()
        if self._task.done():
            self._task.result()
        return self

    async def __aexit__(self, *_: object) -> None:
        self.stop()
        if self._task is not None:
            await self._task

    async def run_async(self) -> None:
        """Work on the running loop until `stop` is called."""
        await self._embedded()

    async def _foreground(self) -> None:
        loop = asyncio.get_running_loop()
        for number in STOP_SIGNALS:
            loop.add_signal_handler(number, self._asked_to_stop)
        try:
            await self._embedded()
        finally:
            for number in STOP_SIGNALS:
                loop.remove_signal_handler(number)

    async def _embedded(self) -> None:
        async with self._working() as pipeline:
            for listener in self.app.store.wakes.listeners:
                await listener.check()
            app, settings, stop = self.app, self.settings, self._stopping()
            steps = self._steps(pipeline)
            others = [step for step in steps if step.name not in (JOBS, PRUNING)]
            patient = [step for step in others if step.due_in is None]
            beside = asyncio.ensure_future(keep_ticking(patient, settings, app.signals, stop))
            timely = [
                asyncio.ensure_future(keep_punctual(step, settings, app.signals, stop))
                for step in others
            ]
            pruning = asyncio.ensure_future(self._keep_pruning(steps, stop))
            lifting = asyncio.ensure_future(keep_lifting(self._lifter, app.signals, stop))
            jobs = asyncio.ensure_future(
                keep_working(pipeline, settings, app.signals, app.settings.poll_seconds)
            )
            listening = [
                asyncio.ensure_future(keep_listening(one, pipeline.alarm, app.signals, stop))
                for one in app.store.wakes.listeners
            ]
            self._ready.set()
            self._started.set()
            try:
                await stop.wait()
            finally:
                stop.set()
                app.signals.emit("worker.stopping", id=self.id, running=pipeline.running)
                pipeline.stop()
                for one in listening:
                    one.cancel()
                await asyncio.wait({jobs, beside, lifting, *timely, *listening}, timeout=5)
                await asyncio.wait({pruning}, timeout=1)

    async def _keep_pruning(self, steps: list[Step], stop: asyncio.Event) -> None:
        if any(step.name == PRUNING for step in steps):
            pruner = Pruner(self.app, self.id, stop.is_set)
            await keep_pruning(pruner, self.settings.pace, self.app.signals, stop)

    async def _prune(self, budget: Budget) -> int:
        """The pruning runner of a tick."""
        pruner = Pruner(self.app, self.id, self._stopping().is_set)
        return int(await in_daemon(pruner.once, budget))

    async def _one_tick(self) -> TickReport:
        overall = whole_budget(self.settings)
        async with self._working(lambda: patience(overall, self.settings)) as pipeline:
            steps = self._steps(pipeline)
            for runner in named(self.app, self.settings):
                steps = [_with_jobs(step, runner, pipeline) for step in steps]
            told = asyncio.ensure_future(self._cut_short(overall, pipeline))
            try:
                report = await tick(steps, self.settings, overall)
            except BaseException:  # whoever asked for it has left
                overall.stop()
                raise
            finally:
                told.cancel()
            self.app.signals.emit("tick.done", report=report)
            return report

    async def _cut_short(self, overall: Budget, pipeline: Pipeline) -> None:
        """A tick that is asked to stop begins nothing more."""
        await self._stopping().wait()
        overall.stop()
        pipeline.stop()

    async def _until_idle(self) -> int:
        async with self._working() as pipeline:
            return await _jobs(pipeline, Budget())

    @asynccontextmanager
    async def _working(
        self, finishing: Callable[[], float] | None = None
    ) -> AsyncIterator[Pipeline]:
        """A pipeline at work. However the block ends, its jobs are finished or given back."""
        self._loop = asyncio.get_running_loop()
        self._stop, self._hurry = asyncio.Event(), asyncio.Event()
        pipeline = Pipeline(self.app, self.id, self._slots, self._scope, self._isolation)
        pipeline.heartbeat.sign_in = lambda: self._sign_in(pipeline)
        unsubscribe = self.app.store.wakes.subscribe(pipeline.alarm.heard)
        await asyncio.to_thread(self._try, self._sign_in, pipeline)
        await asyncio.to_thread(self._try, self._clear_away)
        self.app.signals.emit(
            "worker.started", id=self.id, slots=self._slots.capacity, pipeline=pipeline
        )
        pipeline.heartbeat.start()
        try:
            yield pipeline
        finally:
            unsubscribe()
            seconds = finishing() if finishing else self.settings.shutdown_timeout_ms / 1000
            await pipeline.drain(seconds, self._hurry)
            await asyncio.to_thread(pipeline.heartbeat.stop)
            await asyncio.to_thread(self._try, self._sign_out)
            pipeline.close()
            self.app.signals.emit("worker.stopped", id=self.id)

    def _stopping(self) -> asyncio.Event:
        if self._stop is None:
            raise AssertionError("_working sets it")
        return self._stop

    def _steps(self, pipeline: Pipeline) -> list[Step]:
        async def jobs(budget: Budget) -> int:
            if self._lifter.wanted:
                await in_daemon(self._lifter.turn)
            return await _jobs(pipeline, budget)

        features = [step_of(runner) for runner in self.app.runners]
        timely = [step for step in features if step.due_in]  # their jobs belong to the same tick
        others = [step for step in features if not step.due_in]
        steps = [*timely, Step(JOBS, jobs), *others, Step(PRUNING, self._prune)]
        return choose(steps, self.settings.tick_runners)

    def _asked_to_stop(self) -> None:
        if self._stop is None or self._hurry is None:
            return
        if self._stop.is_set():
            self._hurry.set()
        self._stop.set()

    def _sign_in(self, pipeline: Pipeline) -> None:
        """Who works here and what it knows, for `doctor` and the dashboard."""
        data = {
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "kinds": sorted(pipeline.terms.kinds),
            "queues": dict(self._slots.capacity),
            "running": pipeline.running,
            "started_at": self._started_at,
            "listening": bool(pipeline.alarm.listening),
            "shard": self._scope.shard and astuple(self._scope.shard),
            "app": self.app.settings.app_name,
            "release": self.app.settings.app_version,
            "queue_options": {name: asdict(one) for name, one in self.app.queues.declared.items()},
        }
        self.app.store.records.upsert(Record(collection=WORKERS, name=self.id, data=data))
        pipeline.terms.weights = self.app.tenants.weights()
        handlers = [one for one in self.app.handlers if self._scope.has(one.kind)]
        published = self.app.published.publish(handlers)
        pipeline.terms.limits = self.app.limits.for_worker(self.app.tenants.caps(), published)
        self._take_options(pipeline)
        self.app.store.queues.place({one.kind: one.placement for one in handlers})

    def _take_options(self, pipeline: Pipeline) -> None:
        """What code and operators say about queues."""
        options = self.app.queues.in_force()
        pipeline.terms.unfair = frozenset(name for name, one in options.items() if not one.fair)
        for queue, lane in self._slots.lanes.items():
            lane.prefetch = options.get(queue, AS_USUAL).prefetch

    def _clear_away(self) -> None:
        """Workers that were killed could not sign out."""
        for worker in self.app.insight.workers():
            if worker.silent_seconds > FORGOTTEN_SECONDS:
                self.app.store.records.remove(WORKERS, worker.id)
        self.app.published.forget_old()

    def _sign_out(self) -> None:
        self.app.store.records.remove(WORKERS, self.id)

    def _try(self, step: Callable[..., None], *args: Any) -> None:
        """Being listed is a courtesy: its failure must not keep anybody from working."""
        try:
            step(*args)
        except Exception as error:
            self.app.signals.emit("worker.error", error=error, step="sign")


def _with_jobs(step: Step, runner: JobsRunner, pipeline: Pipeline) -> Step:
    """Where it is the step of this runner: what it does, then jobs of its kinds."""
    if step.name != runner.name:
        return step

    async def run(budget: Budget) -> int:
        others, scope = await step.run(budget), pipeline.terms.only
        pipeline.terms.only = runner.kinds
        try:
            return others + await _jobs(pipeline, budget)
        finally:
            pipeline.terms.only = scope

    return Step(step.name, run)


async def _jobs(pipeline: Pipeline, budget: Budget) -> int:
    """The jobs runner of a tick: until the budget is spent or nothing is due and all is written.

    What was claimed and given back before it began is not counted.
    """
    done, returned = 0, pipeline.returned
    while not budget.spent and not pipeline.stopping:
        quiet = pipeline.idle  # asked before the look: what ends after it may leave work behind
        started = await pipeline.turn(budget, thorough=quiet)
        done += started
        if not started and quiet:
            break
        if not started:
            await pipeline.change(budget.seconds_left)
    await pipeline.started(budget)
    return done - (pipeline.returned - returned)


def run_loop(main: Callable[[], Any]) -> Any:
    """Run a coroutine function on a new loop: uvloop where it is installed."""
    factory = None
    if find_spec("uvloop") is not None:
        import uvloop

        factory = uvloop.new_event_loop
    with asyncio.Runner(loop_factory=factory) as runner:
        return runner.run(main())
