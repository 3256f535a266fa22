"""Takes in what was claimed: each job becomes a run in the line before its slots."""

from __future__ import annotations

from tenure.core.lease import ClaimedJob
from tenure.jobs.registry import Registry
from tenure.worker.claiming.claim_terms import ClaimTerms
from tenure.worker.held_runs import HeldRuns
from tenure.worker.running.run import Run
from tenure.worker.running.slot_runner import SlotRunner
from tenure.worker.running.slots import Slots
from tenure.worker.running.starters import Starters
from tenure.worker.settling.finish import Finisher


class Intake:
    """Decides whether a claimed job lines up, has to run alone, or goes back at once."""

    def __init__(
        self,
        handlers: Registry,
        held: HeldRuns,
        slots: Slots,
        terms: ClaimTerms,
        starters: Starters,
        runner: SlotRunner,
        finisher: Finisher,
    ) -> None:
        self._handlers = handlers
        self._held = held
        self._lines = slots.lines
        self._terms = terms
        self._starters = starters
        self._runner = runner
        self._lone = runner.lone
        self._give_back = finisher.give_back

    def accept(self, claimed: ClaimedJob, trusted_until: float) -> None:
        """Hold it, and put it in line."""
        run = Run(self._handlers.require(claimed.kind), claimed, trusted_until)
        self._held.add(run)
        if self._runner.stopping:  # told to stop while the claim was under way
            self._give_back(run)
        elif run.suspect and not self._starters.isolates:
            if not self._lone.admit(run):
                self._give_back(run)
        elif self._lone.run is not None:
            self._give_back(run)
        else:
            self._line_up(run)

    def _line_up(self, run: Run) -> None:
        """In the line of its queue. A rate counts what begins: a rated job that would have to wait
        goes back.
        """
        line, kind = self._lines[run.claimed.queue], run.claimed.kind
        if kind in self._terms.limits.rated and not line.rated:
            line.rated = True  # it was enqueued to another queue than its handler's
            if line.free <= 0:
                self._give_back(run)
                return
        line.waiting.append(run)
