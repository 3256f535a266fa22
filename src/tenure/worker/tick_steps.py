"""The steps of a worker's tick: runners of features, the jobs runner, pruning."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tenure.core.timing.budget import Budget
from tenure.worker.assignment import JOBS, JobsRunner, named_runners
from tenure.worker.pipeline import Pipeline
from tenure.worker.runner_names import parts_of
from tenure.worker.running.threads import in_daemon
from tenure.worker.tick import TickStep, choose, step_of
from tenure.worker.upkeep.pruning import PRUNING, Pruner

if TYPE_CHECKING:
    from tenure.worker.worker import Worker


def steps_of(worker: Worker, pipeline: Pipeline) -> list[TickStep]:
    """All steps, in the order that WORKER_TICK_RUNNERS asks for."""

    async def jobs(budget: Budget) -> int:
        if worker.ageing.wanted:
            await in_daemon(worker.ageing.turn)
        return await run_jobs(pipeline, budget)

    async def prune(budget: Budget) -> int:
        pruner = Pruner(worker.app, worker.id, worker.stop_request.stop.is_set)
        return int(await in_daemon(pruner.once, budget))

    features = [step_of(runner) for runner in worker.app.runners]
    # Runners with a time of their own go first: the jobs that they add belong to the same tick.
    punctual = [step for step in features if step.due_in]
    others = [step for step in features if not step.due_in]
    steps = [*punctual, TickStep(JOBS, jobs), *others, TickStep(PRUNING, prune)]
    parts = [step_of(part) for part in parts_of(worker.app).values()]
    return choose(steps, worker.settings.tick_runners, parts)


def steps_of_one_tick(worker: Worker, pipeline: Pipeline) -> list[TickStep]:
    """The same; named runners of jobs run their jobs too."""
    steps = steps_of(worker, pipeline)
    for runner in named_runners(worker.app, worker.settings):
        steps = [_with_jobs(step, runner, pipeline) for step in steps]
    return steps


async def run_jobs(pipeline: Pipeline, budget: Budget) -> int:
    """The jobs runner: works until the budget is spent, or nothing is due and all is written.

    Jobs that were claimed and given back before they began are not counted.
    """
    done, returned = 0, pipeline.returned
    while not budget.spent and not pipeline.stopping:
        quiet = pipeline.idle  # asked before the look: what ends after it may leave work behind
        started = await pipeline.turn(budget, thorough=quiet)
        done += started
        if not started and quiet:
            break
        if not started:
            await pipeline.changes.wait(budget.seconds_left)
    await pipeline.started(budget)
    return done - (pipeline.returned - returned)


def _with_jobs(step: TickStep, runner: JobsRunner, pipeline: Pipeline) -> TickStep:
    """If it is the step of this runner: what the runner does, then jobs of its kinds."""
    if step.name != runner.name:
        return step

    async def run(budget: Budget) -> int:
        others, before = await step.run(budget), pipeline.terms.only
        pipeline.terms.only = runner.kinds
        try:
            return others + await run_jobs(pipeline, budget)
        finally:
            pipeline.terms.only = before

    return TickStep(step.name, run, step.due_in)
