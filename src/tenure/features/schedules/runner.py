"""The runner `schedules`: what the code declares into rows, then whatever is due.

Each schedule is a runner of its own too: its slots, and the jobs of its kind.
"""

from __future__ import annotations

import os
import secrets
import socket
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from tenure.core.errors import OptionError, StoreError
from tenure.core.timing.budget import Budget
from tenure.features.schedules.fire import Fired, fire
from tenure.features.schedules.schedule import Schedule
from tenure.features.schedules.timing import NEVER
from tenure.stores.contract import Capability
from tenure.stores.contract.needs import need

if TYPE_CHECKING:
    from tenure.app import Tenure
    from tenure.features.schedules.schedules import Schedules

NAME = "schedules"
LOOK_SECONDS = 5.0
BUSY = timedelta(seconds=1)
NEEDED = frozenset(
    {Capability.LOCKS, Capability.RECORDS, Capability.TRANSACTIONS, Capability.UNIQUE_KEYS}
)


@dataclass(slots=True)
class _Look:
    """The result of one pass over all schedules, and when the next is due."""

    now: datetime
    jobs: int = 0
    errors: list[Exception] = field(default_factory=list)
    moments: list[datetime] = field(default_factory=list)

    @property
    def rest(self) -> float:
        soonest = min(self.moments, default=NEVER)
        return min(LOOK_SECONDS, (soonest - self.now).total_seconds())


class ScheduleRunner:
    """One per app. `due_in` tells the worker when to run it, so that slots fire on time."""

    name = NAME

    def __init__(self, app: Tenure, schedules: Schedules, only: str | None = None) -> None:
        self._app = app
        self._schedules = schedules
        self._only = only
        self._token = secrets.token_hex(4)
        self._known: tuple[object, ...] = ()
        self._look_at = 0.0

    def due_in(self) -> float:
        """Seconds until the next slot, or until the rows should be read again."""
        return max(0.0, self._look_at - time.monotonic())

    def run(self, budget: Budget) -> int:
        """Fire what is due; returns the number of jobs. A failing schedule does not stop others."""
        begun = time.monotonic()
        self._look_at = begun + LOOK_SECONDS
        if not self._able():
            return 0
        look = _Look(self._app.store.now())
        for row in _in_order(self._synchronise(look), self._only):
            if row.next_at > look.now or budget.spent:
                look.moments.append(row.next_at)
            else:
                self._fire(row.name, look, budget)
        self._look_at = begun + look.rest
        if look.errors:
            raise look.errors[0]
        return look.jobs

    def _fire(self, name: str, look: _Look, budget: Budget) -> None:
        try:
            fired = fire(self._app, name, self._owner(), budget.items_left)
        except StoreError:
            raise
        except Exception as error:
            look.errors.append(error)
            return
        look.moments.append(look.now + BUSY if fired is None else fired.schedule.next_at)
        if fired is not None:
            look.jobs += len(fired.jobs)
            budget.use(len(fired.jobs))
            self._tell(fired)

    def _tell(self, fired: Fired) -> None:
        schedule, signals = fired.schedule, self._app.signals
        if fired.jobs:
            slot = schedule.last_slot
            signals.emit("schedule.fired", schedule=schedule.name, slot=slot, jobs=fired.jobs)
        if fired.dropped:
            rule = schedule.terms.catch_up
            signals.emit(
                "schedule.dropped", schedule=schedule.name, slots=fired.dropped, catch_up=rule
            )

    def _able(self) -> bool:
        if self._app.store.capabilities >= NEEDED:
            return True
        if self._schedules.declared:
            need(self._app.store, *sorted(NEEDED))
        return False

    def _synchronise(self, look: _Look) -> Iterable[Schedule]:
        """At every look, as what nobody declares goes; new terms come once per process and store,
        and again where the code has declared more since.
        """
        known = os.getpid(), self._app.store, len(self._schedules.declared)
        try:
            rows = self._schedules.synchronise(starting=known != self._known)
        except OptionError as error:  # a name of another app: the other schedules go on
            look.errors.append(error)
            return self._schedules.list()
        self._known = known
        return rows

    def _owner(self) -> str:
        return f"{socket.gethostname()[:40]}:{os.getpid()}:{self._token}"


class AllSchedules(ScheduleRunner):
    """All schedules of the database; its parts are those that this code declares."""

    def __init__(self, app: Tenure, schedules: Schedules) -> None:
        super().__init__(app, schedules)
        self._parts: dict[str, OneSchedule] = {}

    @property
    def parts(self) -> dict[str, OneSchedule]:
        """A runner for each declared schedule, by its name."""
        for name in self._schedules.declared:
            if name not in self._parts:
                self._parts[name] = OneSchedule(self._app, self._schedules, name)
        return self._parts


class OneSchedule(ScheduleRunner):
    """One schedule: fires its slots, and runs the jobs of its kind.

    See `tenure.worker.assignment.JobsRunner`.
    """

    def __init__(self, app: Tenure, schedules: Schedules, only: str) -> None:
        super().__init__(app, schedules, only)
        self.name = only
        self.kinds = (schedules.declared[only].kind,)
        self.lease_seconds = app.settings.lease_seconds
        self.renew_seconds = app.settings.renew_every


def _in_order(rows: Iterable[Schedule], only: str | None) -> list[Schedule]:
    active = (row for row in rows if row.active and only in (None, row.name))
    return sorted(active, key=lambda row: row.next_at)
