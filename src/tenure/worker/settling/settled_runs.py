"""Tells everybody concerned which runs are settled: the worker, whoever waits, logs and metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tenure.core.job import State
from tenure.core.settlement import SettledRun, Settlement
from tenure.core.signals import Signals
from tenure.worker.held_runs import HeldRuns
from tenure.worker.running.run import Run
from tenure.worker.upkeep.rollups import Rollups

QUEUED = State.QUEUED


class SettledRuns:
    """`tell_ended(ids)` wakes those who wait for these jobs; `due_in(queue, seconds)` makes this
    worker look for a job that it has queued again.
    """

    def __init__(
        self,
        held: HeldRuns,
        signals: Signals,
        tell_ended: Callable[[list[str]], None],
        due_in: Callable[[str, float], None],
        rollups: Rollups,
    ) -> None:
        self._forget_all = held.forget_all
        self._signals = signals
        self._tell_ended = tell_ended
        self._due_in = due_in
        self._count = rollups.count

    def forget(self, item: Settlement) -> None:
        """It cannot be written at all: its lease will run out."""
        self._forget_all([item])

    def tell(self, batch: list[Settlement], applied: frozenset[str]) -> None:
        """These are written, or were refused because somebody else holds the job now."""
        ended = [item.lease.job_id for item in batch if item.state is not QUEUED]
        self._tell_ended(ended)
        runs = self._forget_all(batch)
        self._count(batch, runs, applied)
        heard = self._signals.heard("job.settled")
        counted = self._signals.heard("jobs.settled")
        if len(ended) == len(batch) and applied.issuperset(ended) and not (heard or counted):
            return  # nearly always: all jobs are over, and nobody asks for more
        self._tell_each(zip(batch, runs, strict=True), applied, heard=heard, counted=counted)

    def _tell_each(
        self,
        batch: Iterable[tuple[Settlement, Run | None]],
        applied: frozenset[str],
        *,
        heard: bool,
        counted: bool,
    ) -> None:
        written: list[SettledRun] = []
        for item, run in batch:
            if item.lease.job_id not in applied:
                job = None if run is None else run.claimed
                self._signals.emit("job.settle_refused", **_facts(item), job=job)
                continue
            if item.state is QUEUED and run is not None:
                self._due_in(run.claimed.queue, item.delay_seconds)
            if heard:
                self._signals.emit("job.settled", **_facts(item))
            if counted and run is not None and not item.returned:  # those never ran
                written.append(tuple.__new__(SettledRun, (run.claimed, item, run.seconds)))
        if written:
            self._signals.emit("jobs.settled", batch=written)


def _facts(item: Settlement) -> dict[str, Any]:
    return {
        "id": item.lease.job_id,
        "fence": item.lease.fence,
        "state": item.state,
        "entry": item.entry,
        "reason": item.reason,
        "delay_seconds": item.delay_seconds,
        "failure": item.failure,
    }
