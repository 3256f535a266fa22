"""Keeps the leases of one worker alive from a thread of its own, so that no handler can starve it.

It also carries progress, log lines and the news of a cancel, and stops trusting a lease that it
could not renew before anybody else may take the job.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from tenure.core.errors import StoreError
from tenure.core.lease import Lease
from tenure.core.signals import Signals
from tenure.stores.contract import JobStore, Report
from tenure.worker.run import CANCEL, LOST, Run

REPORT_EVERY = 1.0
SIGN_EVERY = 15.0
UNSENT_KEPT = 1_000
TRUST = 0.9
Tell = Callable[[Run, str], None]


class Watched:
    """A lease that is being kept."""

    __slots__ = ("cancel_told", "run", "trusted_until")

    def __init__(self, run: Run, trusted_until: float) -> None:
        self.run = run
        self.trusted_until = trusted_until
        self.cancel_told = False


class Heartbeat:
    """`tell(run, reason)` is called from this thread."""

    def __init__(
        self, jobs: JobStore, signals: Signals, *, lease_seconds: float, every: float, tell: Tell
    ) -> None:
        self._jobs = jobs
        self._signals = signals
        self._lease_seconds = lease_seconds
        self._every = every
        self._tell = tell
        self._watched: dict[str, Watched] = {}
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._loop, name="tenure-heartbeat", daemon=True)
        self._unsent: list[Report] = []
        self.sign_in: Callable[[], Any] | None = None

    def start(self) -> None:
        """Begin to beat."""
        self._thread.start()

    def stop(self) -> None:
        """Write what is left to say and end."""
        self._stop.set()
        self._thread.join(timeout=5)

    def watch(self, run: Run, claimed_at: float) -> None:
        """Keep this lease from now on; it was asked for at `claimed_at` (monotonic)."""
        trusted = claimed_at + self._lease_seconds * TRUST
        with self._lock:
            earlier = self._watched.get(run.claimed.id)
            self._watched[run.claimed.id] = Watched(run, trusted)
        if earlier is not None:  # our own earlier lease of this job ran out, and we took it again
            self._tell(earlier.run, LOST)

    def forget(self, lease: Lease) -> None:
        """Settled, or lost."""
        with self._lock:
            watched = self._watched.get(lease.job_id)
            if watched is not None and watched.run.claimed.lease == lease:
                del self._watched[lease.job_id]

    def _loop(self) -> None:
        next_beat = time.monotonic() + self._every
        next_sign = time.monotonic() + SIGN_EVERY
        while not self._stop.wait(min(REPORT_EVERY, self._every)):
            self._guard(self._report)
            if time.monotonic() >= next_beat:
                next_beat = time.monotonic() + self._every
                self._guard(self.beat)
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
        """Renew everything that is watched, in one call."""
        watched = self._held()
        if not watched:
            return
        sent = time.monotonic()
        leases = [one.run.claimed.lease for one in watched.values()]
        answer = self._jobs.extend(leases, self._lease_seconds)
        for job_id, one in watched.items():
            ended_itself = one.run.job.settled or one.run.job.joined
            if job_id in answer.lost and not ended_itself:
                self._lose(one)
                continue
            one.trusted_until = sent + self._lease_seconds * TRUST
            if job_id in answer.cancel and not one.cancel_told:
                one.cancel_told = True
                self._tell(one.run, CANCEL)

    def _report(self) -> None:
        with self._lock:
            runs = [one.run for one in self._watched.values()]
        self._unsent += [news for run in runs if (news := run.job.take_news()) is not None]
        del self._unsent[:-UNSENT_KEPT]
        if not self._unsent:
            return
        refused = self._jobs.report(self._unsent)
        self._unsent = []
        for job_id in refused:
            self._signals.emit("job.news_refused", id=job_id)

    def _distrust(self) -> None:
        """Not renewed in time: assume the lease lost before another worker may win it.

        The answer may only have been slow, as behind a long write on SQLite: then ask once more.
        """
        if self._late():
            self._guard(self.beat)
        for one in self._late():
            self._lose(one)

    def _late(self) -> list[Watched]:
        now = time.monotonic()
        return [one for one in self._held().values() if one.trusted_until < now]

    def _held(self) -> dict[str, Watched]:
        """A handler that settled for itself needs no lease for what it does afterwards."""
        with self._lock:
            return {key: one for key, one in self._watched.items() if not one.run.job.settled}

    def _lose(self, one: Watched) -> None:
        lease: Lease = one.run.claimed.lease
        self.forget(lease)
        if one.run.ended:  # most likely settled while we asked; a refusal tells of itself
            return
        self._signals.emit("lease.lost", id=lease.job_id, fence=lease.fence)
        self._tell(one.run, LOST)
