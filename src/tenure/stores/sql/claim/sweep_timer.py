"""When a worker looks beyond its known lanes: from the head, between lanes, for lost leases.

Each kind of look may take a twentieth of the time, so that a bloated index cannot occupy a worker.
"""

from __future__ import annotations

SWEEP_EVERY = 1.0
# A look between lanes: every 20 ms, or sooner after this many jobs.
GLANCE_EVERY = 0.02
GLANCE_JOBS = 300
# A sweep below 5 ms is cheap. A dear look waits 20 times as long as it took: 5 % of the time.
CHEAP_SECONDS = 0.005
SHARE = 20
LONG_AGO = 1e9
# After a lock was met, tied jobs are left alone for so long.
CALM_SECONDS = 5.0
# A short look for lost leases overlaps the one before, for clocks and slow commits.
MARGIN_SECONDS = 5.0
WHOLE_LOOK_EVERY = 30.0


class SweepTimer:
    """For one worker. Times are seconds on the clock that leases are judged by."""

    def __init__(self) -> None:
        self._swept_at: float | None = None
        self._sweep_seconds = 0.0
        self._glance_at = 0.0
        self._no_glance_before = 0.0
        self._taken = 0
        self._quiet_at = 0.0
        self._quiet = False
        self._whole_look_at = 0.0
        self._calm_until = 0.0

    def forget(self) -> None:
        """Jobs were moved: a sweep is due at once."""
        self._swept_at = None
        self._quiet = False

    def sweep_soon(self) -> None:
        """Parked jobs may go on: a sweep is due at once."""
        self._swept_at = None

    def sweep_due(self, now: float, *, later: bool = False) -> bool:
        """Whether the last sweep is a second ago; two seconds with `later`."""
        every = SWEEP_EVERY * 2 if later else SWEEP_EVERY
        return self._swept_at is None or now - self._swept_at >= every

    def be_calm(self, now: float) -> None:
        """A sweep met a lock: for some seconds it leaves jobs alone that others wait for."""
        self._calm_until = now + CALM_SECONDS

    def is_calm(self, now: float) -> bool:
        """Whether jobs that others wait for are left alone."""
        return now < self._calm_until

    def may_sweep(self, now: float) -> bool:
        """Whether to sweep early. A sweep that took long waits twenty times as long."""
        if self._swept_at is None or self._sweep_seconds < CHEAP_SECONDS:
            return True
        return now - self._swept_at >= min(SWEEP_EVERY, self._sweep_seconds * SHARE)

    def swept(self, began: float, ended: float) -> None:
        """A sweep was made."""
        self._swept_at = ended
        self._sweep_seconds = ended - began

    def glance_due(self, now: float) -> bool:
        """Whether to look between the known lanes: after some time, or some jobs."""
        return now >= self._glance_at or (
            self._taken >= GLANCE_JOBS and now >= self._no_glance_before
        )

    def took(self, jobs: int) -> None:
        """So many jobs were claimed from known lanes."""
        self._taken += jobs

    def glanced(self, began: float, ended: float) -> None:
        """A look between lanes was made. The next one waits until it costs a twentieth at most."""
        self._taken = 0
        self._no_glance_before = ended + (ended - began) * SHARE
        self._glance_at = max(ended + GLANCE_EVERY, self._no_glance_before)

    def back(self, now: float) -> float:
        """How many seconds back to look for leases that ran out: to the last look that found none.

        A complete look twice a minute finds what such a short look misses.
        """
        if now >= self._whole_look_at or not self._quiet:
            return LONG_AGO
        return now - self._quiet_at + MARGIN_SECONDS

    def looked_back(self, now: float, *, quiet: bool) -> None:
        """A look for lost leases was made; `quiet` if it found none."""
        if self.back(now) == LONG_AGO:
            self._whole_look_at = now + WHOLE_LOOK_EVERY
        self._quiet = quiet
        self._quiet_at = now
