"""How fast time goes in a test: turned by hand, or a hundred times faster on the real clock."""

from __future__ import annotations

import time
from datetime import datetime, timedelta
from typing import Protocol

from tenure.testing.clock import ManualClock

REAL_SCALE = 0.01
PATIENCE_SECONDS = 30.0


class Watched(Protocol):
    """A store, as far as its clock goes."""

    def now(self) -> datetime:
        """The store's clock."""
        ...


class Tempo:
    """Lets a test speak of half a minute without waiting for it.

    A test says `tempo.lease` for a lease that it will let run out, `tempo.passes(31)` to do so,
    and `tempo.hour` for one that must hold however slow the machine is.
    """

    hour = 3600.0

    def __init__(self, store: Watched, clock: ManualClock | None) -> None:
        self._store = store
        self._clock = clock

    @property
    def lease(self) -> float:
        """Thirty seconds."""
        return self.seconds(30)

    def seconds(self, nominal: float) -> float:
        """This many seconds of the test, in seconds of the store."""
        return nominal if self._clock else nominal * REAL_SCALE

    def from_now(self, nominal: float) -> datetime:
        """The moment so many of the test's seconds after the store's present one."""
        return self._store.now() + timedelta(seconds=self.seconds(nominal))

    def passes(self, nominal: float) -> None:
        """Return when the store's clock has gone on by so many of the test's seconds."""
        if self._clock:
            self._clock.advance(seconds=nominal)
        else:
            self._wait_until(self.from_now(nominal))

    def _wait_until(self, moment: datetime) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while self._store.now() <= moment:
            if time.monotonic() > deadline:
                raise TimeoutError(f"the store's clock did not reach {moment}")
            time.sleep(0.005)
