"""One tick: every configured runner once, in order, each within its part of the budget."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tenure.core.errors import OptionError
from tenure.core.failure import Failure
from tenure.core.timing.budget import Budget
from tenure.feature import Runner
from tenure.worker.runner_names import meaning
from tenure.worker.running.threads import in_daemon
from tenure.worker.settings import WorkerSettings


@dataclass(frozen=True, slots=True)
class RunnerReport:
    """What one runner did."""

    name: str
    processed: int
    seconds: float
    failure: Failure | None = None


@dataclass(slots=True)
class TickReport:
    """What a tick did. For the `skipped` runners no time was left."""

    runners: list[RunnerReport] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)

    @property
    def processed(self) -> int:
        """The sum of all runners."""
        return sum(runner.processed for runner in self.runners)

    @property
    def failed(self) -> bool:
        """Whether any runner raised."""
        return any(runner.failure is not None for runner in self.runners)

    def to_dict(self) -> dict[str, Any]:
        """For `--json`."""
        return {
            "processed": self.processed,
            "failed": self.failed,
            "skipped": self.skipped,
            "runners": [
                {
                    "name": one.name,
                    "processed": one.processed,
                    "seconds": round(one.seconds, 3),
                    "error": None if one.failure is None else one.failure.to_dict(),
                }
                for one in self.runners
            ],
        }


@dataclass(frozen=True, slots=True)
class TickStep:
    """A runner by name, and how it is run. `due_in` returns when it wants to run again."""

    name: str
    run: Callable[[Budget], Awaitable[int]]
    due_in: Callable[[], float] | None = None


def step_of(runner: Runner) -> TickStep:
    """The step of a feature's runner. A plain one runs in a thread."""
    due_in = getattr(runner, "due_in", None)

    async def run(budget: Budget) -> int:
        if inspect.iscoroutinefunction(runner.run):
            return int(await runner.run(budget))
        if due_in is not None:  # a thread of its own: handlers may keep the shared ones busy
            return int(await in_daemon(runner.run, budget))
        return int(await asyncio.to_thread(runner.run, budget))

    return TickStep(runner.name, run, due_in)


def choose(
    steps: Sequence[TickStep], names: Sequence[str], parts: Sequence[TickStep] = ()
) -> list[TickStep]:
    """The runners named by WORKER_TICK_RUNNERS in that order; every registered one by default.

    `parts` run only if they are named: see `runner_names.py`.
    """
    if not names:
        return list(steps)
    known = {step.name: step for step in (*parts, *steps)}
    chosen: list[TickStep] = []
    for name in names:
        meant = meaning(name, known)
        if meant is None:
            listed = ", ".join(step.name for step in (*steps, *parts))
            raise OptionError(f"WORKER_TICK_RUNNERS names {name!r}; registered are: {listed}")
        chosen.append(known[meant])
    return chosen


def whole_budget(settings: WorkerSettings) -> Budget:
    """The budget of one tick that begins now."""
    return Budget(seconds=settings.tick_overall_max_ms / 1000)


def patience(overall: Budget, settings: WorkerSettings) -> float:
    """How long handlers may finish after every runner has had its turn: for the rest of the tick's
    time and a short grace.
    """
    return (overall.seconds_left or 0.0) + settings.tick_grace_ms / 1000


async def tick(
    steps: Sequence[TickStep], settings: WorkerSettings, overall: Budget | None = None
) -> TickReport:
    """Run every step once. A runner that fails does not stop the next."""
    report = TickReport()
    overall = overall or whole_budget(settings)
    for step in steps:
        if overall.spent:
            report.skipped.append(step.name)
            continue
        budget = overall.part(
            seconds=settings.tick_runner_max_ms / 1000, items=settings.tick_runner_max_items
        )
        report.runners.append(await run_guarded(step, budget))
    return report


async def run_guarded(step: TickStep, budget: Budget) -> RunnerReport:
    """Run one step; what it raises becomes part of the report."""
    begun = time.monotonic()
    try:
        processed = await step.run(budget)
    except Exception as error:
        return RunnerReport(step.name, 0, time.monotonic() - begun, Failure.of(error))
    return RunnerReport(step.name, processed, time.monotonic() - begun)
