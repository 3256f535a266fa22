"""Keeps the leases of one worker alive, from a thread of its own so that no handler can starve it.

It also writes progress and log lines, asks for cancellations, and stops trusting a lease that it
could not renew before another worker may take the job.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Any

from tenure.core.errors import StoreError
from tenure.core.signals import Signals
from tenure.stores.contract import Store
from tenure.worker.assignment import Assignment
from tenure.worker.held_runs import HeldRuns
from tenure.worker.running.ending import CANCEL, LOST
from tenure.worker.running.run import Run
from tenure.worker.settling.progress_reports import RunningReports

REPORT_EVERY = 1.0
SIGN_IN_EVERY = 15.0


class Heartbeat:
    """Made on the event loop. `sign_in()` refreshes the worker's entry in the list of workers."""

    def __init__(
        self,
        store: Store,
        signals: Signals,
        held: HeldRuns,
        assignment: Assignment,
        sign_in: Callable[[], None],
    ) -> None:
        self._jobs = store.jobs
        self._canceled = store.queues.canceled
        self._signals = signals
        self._held = held
        self._assignment = assignment
        self._sign_in = sign_in
        self._loop = asyncio.get_running_loop()
        self._reports = RunningReports(store.jobs, signals)
        self._lasting: set[Run] = set()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work, name="tenure-heartbeat", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Write the last reports and end the thread."""
        self._stop.set()
        self._thread.join(timeout=5)

    def _work(self) -> None:
        every = self._assignment.renew_every
        next_beat = time.monotonic() + every
        next_sign = time.monotonic() + SIGN_IN_EVERY
        while not self._stop.wait(min(REPORT_EVERY, every)):
            if time.monotonic() >= next_beat:
                next_beat = time.monotonic() + every
                self._guard(self.beat)
            self._guard(self._report)
            self._guard(self._ask_for_cancels)
            if time.monotonic() >= next_sign:
                next_sign = time.monotonic() + SIGN_IN_EVERY
                self._guard(self._sign_in)
            self._distrust()
        self._guard(self._report)

    def _guard(self, action: Callable[[], Any]) -> None:
        """One failed beat is no reason to stop beating."""
        try:
            action()
        except Exception as error:
            self._signals.emit("heartbeat.failed", error=error, known=isinstance(error, StoreError))

    def beat(self) -> None:
        """Renew all leases in one call."""
        held = self._snapshot()
        if not held:
            return
        sent = time.monotonic()  # before the call: the store may have counted from then on
        leases = [run.claimed.lease for run in held]
        answer = self._jobs.extend(leases, self._assignment.lease_seconds)
        for run in held:
            if run.claimed.id in answer.lost and not (run.job.settled or run.job.joined):
                self._lose(run)
                continue
            run.trusted_until = self._assignment.trusted_until(sent)
            if run.claimed.id in answer.cancel:
                self._cancel(run)

    def _ask_for_cancels(self) -> None:
        """For runs that were there a second ago: a cancel need not wait for the next beat."""
        held = set(self._snapshot())
        lasting, self._lasting = held & self._lasting, held
        asked = self._canceled([run.claimed.id for run in lasting if not run.cancel_told])
        for run in lasting:
            if run.claimed.id in asked:
                self._cancel(run)

    def _cancel(self, run: Run) -> None:
        if not run.cancel_told:
            run.cancel_told = True
            self._interrupt(run, CANCEL)

    def _snapshot(self) -> list[Run]:
        """The runs that need their lease. A handler that has settled its job needs it no more."""
        return [run for run in self._held.snapshot() if not run.lost and not run.job.settled]

    def _report(self) -> None:
        # A joined job's row may be locked by the user's transaction: a report would wait for it.
        self._reports.send(run.job for run in self._snapshot() if not run.job.joined)

    def _distrust(self) -> None:
        """Give up leases that were not renewed in time, before another worker may take the jobs.

        The answer may only have been slow, as behind a long write on SQLite: then ask once more.
        """
        if self._late():
            self._guard(self.beat)
        for run in self._late():
            self._lose(run)

    def _late(self) -> list[Run]:
        now = time.monotonic()
        return [run for run in self._snapshot() if run.trusted_until < now]

    def _lose(self, run: Run) -> None:
        lease = run.claimed.lease
        if (
            run.ended
        ):  # most likely settled while we asked; if not, the store refuses it and says so
            return
        run.lost = True
        self._signals.emit("lease.lost", id=lease.job_id, fence=lease.fence, job=run.claimed)
        self._interrupt(run, LOST)

    def _interrupt(self, run: Run, reason: str) -> None:
        """Runs live on the event loop; this is the heartbeat's thread."""
        self._loop.call_soon_threadsafe(run.interrupt, reason)
