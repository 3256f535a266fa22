"""`Schedules(app)`: declare schedules in code, and change them as operators do."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

from tenure.core.errors import OptionError
from tenure.features.schedules.declare import (
    H,
    ScheduleOptions,
    adopt,
    check_payload,
    declares,
    synchronise,
)
from tenure.features.schedules.feature import ScheduleFeature
from tenure.features.schedules.rows import Rows
from tenure.features.schedules.runner import AllSchedules
from tenure.features.schedules.schedule import Schedule
from tenure.features.schedules.slot import any_job
from tenure.features.schedules.targets import MakeJob, Pages, T, fan_out
from tenure.features.schedules.terms import Edit, Terms
from tenure.features.schedules.timing import following
from tenure.jobs.handler import Handler

if TYPE_CHECKING:
    from tenure.app import Tenure
    from tenure.jobs.reference import JobRef


class Schedules(ScheduleFeature):
    """Rows that say when to enqueue what. An app has one: construct it once, beside the app.

    >>> from tenure import Tenure
    >>> app = Tenure("sqlite:///tenure.db")
    >>> schedules = Schedules(app)
    >>> @schedules.cron("30 2 * * *", zone="Europe/Berlin")
    ... @app.job("reports.nightly")
    ... def nightly(job) -> None: ...
    """

    def __init__(self, app: Tenure) -> None:
        super().__init__(app)
        self._app = app
        self._rows = Rows(app)
        self._declared: dict[str, Terms] = {}
        self._adopted: set[str] = set()
        self.runners = (AllSchedules(app, self),)
        app.include(self)

    @property
    def declared(self) -> dict[str, Terms]:
        """What the code declares, by name: here, and with the handlers of a `Jobs`."""
        adopt(self._app, self._adopted, self._declared)
        return self._declared

    def cron(
        self, expression: str, *, zone: str = "UTC", **options: Unpack[ScheduleOptions]
    ) -> Callable[[H], H]:
        """Declare a cron schedule: five fields or `@daily`, in a time zone; above `@app.job`."""
        times = {"cron": expression, "zone": zone}
        return declares(self._app, self._declared, options, times)

    def every(
        self,
        *,
        seconds: int = 0,
        minutes: int = 0,
        hours: int = 0,
        **options: Unpack[ScheduleOptions],
    ) -> Callable[[H], H]:
        """Declare a schedule at every multiple of this interval since 1970, in absolute time."""
        interval = seconds + 60 * minutes + 3600 * hours
        return declares(self._app, self._declared, options, {"every": interval})

    def for_each(
        self, kind: str, *, pages: Pages[T], queue: str = "default"
    ) -> Callable[[MakeJob[T]], Handler[Any]]:
        """One unique job for each target: see `tenure.features.schedules.targets`."""
        return lambda make: fan_out(self._app, kind, pages, make, queue)

    def list(self) -> list[Schedule]:
        """All schedules, by name."""
        return self._rows.list()

    def get(self, name: str) -> Schedule:
        """One schedule, or ScheduleNotFound."""
        return self._rows.get(name)

    def pause(self, name: str, actor: str = "operator") -> Schedule:
        """Pause a schedule: none of its slots fires until it is resumed."""
        done = self._rows.change(name, lambda row: replace(row, paused=True, paused_by=actor))
        self._tell("schedule.paused", name, actor)
        return done

    def resume(self, name: str, actor: str = "operator") -> Schedule:
        """Resume a schedule with its next slot. Slots during the pause are skipped."""

        def resumed(row: Schedule) -> Schedule:
            if not row.paused:
                return row
            next_at = following(row.timing(), self._app.store.now())
            return replace(row, paused=False, paused_by=None, next_at=next_at)

        done = self._rows.change(name, resumed)
        self._tell("schedule.resumed", name, actor)
        return done

    def edit(self, name: str, actor: str = "operator", **changes: Unpack[Edit]) -> Schedule:
        """Change a schedule at run time. Later deployments keep the change."""
        if unknown := changes.keys() - Edit.__optional_keys__:
            raise OptionError(f"a schedule has no {sorted(unknown)[0]!r} that could be edited")
        if {"cron", "every"} <= changes.keys():
            raise OptionError("give cron or every, not both")

        def edited(row: Schedule) -> Schedule:
            after = row.edit(changes)
            check_payload(self._app, after.terms.checked())
            return after

        done = self._rows.change(name, edited)
        self._tell("schedule.edited", name, actor)
        return done

    def reset(self, name: str, actor: str = "operator") -> Schedule:
        """Discard what operators have changed: the code's declaration applies again."""
        done = self._rows.change(name, lambda row: replace(row, edited={}))
        self._tell("schedule.edited", name, actor)
        return done

    def run_now(self, name: str) -> JobRef:
        """Add one job of a schedule now, in addition to its slots, even if it is paused."""
        job = any_job(self._app, name, self.get(name).terms, self._app.store.now())
        return self._app.enqueue_many([job])[0]

    def synchronise(self, *, starting: bool = True) -> Iterable[Schedule]:
        """Write the declared schedules into rows, and return all rows."""
        return synchronise(self._app, self._rows, self.declared, starting=starting)

    def _tell(self, action: str, name: str, actor: str) -> None:
        self._app.signals.emit(action, schedule=name, actor=actor)
        self._app.operator.audit.note(actor, action, name)
