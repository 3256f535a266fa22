"""What follows when a run has ended: its settlement is decided and handed to the settler."""

from __future__ import annotations

import random
from collections.abc import Callable

from tenure.core.outcome import Ending, Raised, Returned
from tenure.core.rules.by_class import NO_COUNTS, Counts
from tenure.core.rules.retry import Exponential
from tenure.core.rules.run_again import decide
from tenure.core.settlement import SettledRun, Settlement
from tenure.core.signals import Signals
from tenure.worker.changes import Changes
from tenure.worker.held_runs import HeldRuns
from tenure.worker.running.run import Run
from tenure.worker.settling.class_counts import ClassCounts
from tenure.worker.settling.foreign_commits import ForeignCommits
from tenure.worker.settling.settler import Settler
from tenure.worker.upkeep.rollups import Rollups

RETURNED = Returned()


class Finisher:
    """Ends each run exactly once. `tell_ended(ids)` wakes those who wait for these jobs."""

    def __init__(
        self,
        signals: Signals,
        settler: Settler,
        held: HeldRuns,
        changes: Changes,
        foreign: ForeignCommits,
        counts: ClassCounts,
        tell_ended: Callable[[list[str]], None],
        rollups: Rollups,
    ) -> None:
        self._signals = signals
        self._put = settler.put
        self._held = held
        self._tell_change = changes.tell
        self._tell_ended = tell_ended
        self._count = rollups.count_one
        self.confirm = foreign.confirm
        self.counts = counts
        self.returned = 0

    def give_back(self, run: Run) -> None:
        """It has not begun: back to its position in the queue, with its attempt refunded."""
        self.finish(run, RETURNED)

    def finish(self, run: Run, ending: Ending | None, counts: Counts = NO_COUNTS) -> None:
        """Hand on the settlement; without an ending there is nothing left to write."""
        if run.ended:
            return
        run.ended = True
        self.returned += isinstance(ending, Returned)
        if ending is None:
            settlement = self._let_go(run)
        else:
            settlement = _decided(run, ending, counts)
            self._put(settlement, run.job.take_news())
        if run.span is not None:
            run.span.end(settlement)
        self._tell_change()

    def _let_go(self, run: Run) -> Settlement | None:
        """The handler has settled its job itself, or its lease is lost."""
        lease, settlement = run.claimed.lease, run.job.settlement
        self._held.forget(lease)
        self._signals.emit("job.let_go", id=lease.job_id, settled=run.job.settled)
        self._tell_ended([lease.job_id])
        if settlement is not None:
            self._count(settlement, run)
            self._signals.emit(
                "jobs.settled", batch=[SettledRun(run.claimed, settlement, run.seconds)]
            )
        return settlement


def _decided(run: Run, ending: Ending, counts: Counts) -> Settlement:
    policy = run.handler.options.retry
    try:
        return decide(run.claimed, ending, policy, random.random, counts)
    except Exception as error:  # a retry policy is the user's code: its error is the ending then
        return decide(run.claimed, Raised(error), Exponential(), random.random)
