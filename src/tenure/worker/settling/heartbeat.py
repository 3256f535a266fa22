"""Keeps the leases of one worker alive from a thread of its own, so that no handler can starve it.

It also carries progress, log lines and the news of a cancel, and stops trusting a lease that it
could not renew before anybody else may take the job.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from tenure.core.errors import StoreError
from tenure.core.signals import Signals
from tenure.stores.contract import Report, Store
from tenure.worker.running.run import CANCEL, LOST, Run
from tenure.worker.settling.progress_reports import write_news

REPORT_EVERY = 1.0
SIGN_EVERY = 15.0
UNSENT_KEPT = 1_000
TRUST = 0.9
Tell = Callable[[Run, str], None]


class Heartbeat:
    """`held` is the worker's record of what it holds; `tell(run, reason)` is called from here."""

    def __init__(self, store: Store, signals: Signals, held: Mapping[str, Run], tell: Tell) -> None:
        self._jobs = store.jobs
        self._canceled = store.queues.canceled
        self._signals = signals
        self._held = held
        self._tell = tell
        self._unsent: list[Report] = []
        self._lasting: set[Run] = set()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._loop, name="tenure-heartbeat", daemon=True)
        self.lease_seconds = 60.0
        self.every = 20.0
        self.sign_in: Callable[[], Any] | None = None

    def trusted_until(self, asked_at: float) -> float:
        """How long a lease that was asked for at that moment (monotonic) is believed in."""
        return asked_at + self.lease_seconds * TRUST

    def start(self) -> None:
        """Begin to beat."""
        self._thread.start()

    def stop(self) -> None:
        """Write what is left to say and end."""
        self._stop.set()
        self._thread.join(timeout=5)

    def _loop(self) -> None:
        next_beat = time.monotonic() + self.every
        next_sign = time.monotonic() + SIGN_EVERY
        while not self._stop.wait(min(REPORT_EVERY, self.every)):
            if time.monotonic() >= next_beat:
                next_beat = time.monotonic() + self.every
                self._guard(self.beat)
            self._guard(self._report)
            self._guard(self._ask_for_cancels)
            if self.sign_in is not None and time.monotonic() >= next_sign:
                next_sign = time.monotonic() + SIGN_EVERY
                self._guard(self.sign_in)
            self._distrust()
        self._guard(self._report)

    def _guard(self, step: Callable[[], Any]) -> None:
        """One failed beat is no reason to stop beating."""
        try:
            step()
        except Exception as error:
            self._signals.emit("heartbeat.failed", error=error, known=isinstance(error, StoreError))

    def beat(self) -> None:
        """Renew everything that is held, in one call."""
        held = self._snapshot()
        if not held:
            return
        sent = time.monotonic()
        answer = self._jobs.extend([run.claimed.lease for run in held], self.lease_seconds)
        for run in held:
            if run.claimed.id in answer.lost and not (run.job.settled or run.job.joined):
                self._lose(run)
                continue
            run.trusted_until = self.trusted_until(sent)
            if run.claimed.id in answer.cancel:
                self._cancel(run)

    def _ask_for_cancels(self) -> None:
        """Of runs that were there a second ago: who asked one to stop need not wait for a beat."""
        held = set(self._snapshot())
        lasting, self._lasting = held & self._lasting, held
        asked = self._canceled([run.claimed.id for run in lasting if not run.cancel_told])
        for run in lasting:
            if run.claimed.id in asked:
                self._cancel(run)

    def _cancel(self, run: Run) -> None:
        if not run.cancel_told:
            run.cancel_told = True
            self._tell(run, CANCEL)

    def _snapshot(self) -> list[Run]:
        """What needs its lease; copied in one step, as the loop goes on. A handler that settled for
        itself needs none for what it does afterwards.
        """
        held = list(self._held.values())
        return [run for run in held if not run.lost and not run.job.settled]

    def _report(self) -> None:
        speaking = [run for run in self._snapshot() if not run.job.joined]  # its row may be locked
        news = [run.job.take_news() for run in speaking]
        self._unsent += [report for report in news if report is not None]
        del self._unsent[:-UNSENT_KEPT]
        if self._unsent:
            write_news(self._jobs, self._signals, self._unsent)
            self._unsent = []

    def _distrust(self) -> None:
        """Not renewed in time: assume the lease lost before another worker may win it.

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
        if run.ended:  # most likely settled while we asked; a refusal tells of itself
            return
        run.lost = True
        self._signals.emit("lease.lost", id=lease.job_id, fence=lease.fence, job=run.claimed)
        self._tell(run, LOST)
