"""`Schedules(app)`: declare schedules in code, and change them as operators do."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ParamSpec, Unpack

from tenure.core.errors import OptionError
from tenure.features.schedules.declare import ScheduleOptions, check_payload, declares, synchronise
from tenure.features.schedules.feature import ScheduleFeature
from tenure.features.schedules.rows import Rows
from tenure.features.schedules.runner import ScheduleRunner
from tenure.features.schedules.schedule import Schedule
from tenure.features.schedules.slot import any_job
from tenure.features.schedules.targets import MakeJob, Pages, T, fan_out
from tenure.features.schedules.terms import Edit, Terms
from tenure.features.schedules.timing import following
from tenure.jobs.handler import Handler

if TYPE_CHECKING:
    from tenure.app import Tenure
    from tenure.jobs.reference import JobRef

P = ParamSpec("P")


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
        self.declared: dict[str, Terms] = {}
        self.runners = (ScheduleRunner(app, self),)
        app.include(self)

    def cron(
        self, expression: str, *, zone: str = "UTC", **options: Unpack[ScheduleOptions]
    ) -> Callable[[Handler[P]], Handler[P]]:
        """Five fields or `@daily` and the like, in a time zone; above `@app.job(...)`."""
        return declares(self.declared, options, {"cron": expression, "zone": zone})

    def every(
        self,
        *,
        seconds: int = 0,
        minutes: int = 0,
        hours: int = 0,
        **options: Unpack[ScheduleOptions],
    ) -> Callable[[Handler[P]], Handler[P]]:
        """At every multiple of this time since 1970, whatever clocks on walls do."""
        interval = seconds + 60 * minutes + 3600 * hours
        return declares(self.declared, options, {"every": interval})

    def for_each(
        self, kind: str, *, pages: Pages[T], queue: str = "default"
    ) -> Callable[[MakeJob[T]], Handler[Any]]:
        """One unique job for each target: see `tenure.features.schedules.targets`."""
        return lambda make: fan_out(self._app, kind, pages, make, queue)

    def list(self) -> list[Schedule]:
        """All of them, by name."""
        return self._rows.list()

    def get(self, name: str) -> Schedule:
        """One of them."""
        return self._rows.get(name)

    def pause(self, name: str, actor: str = "operator") -> Schedule:
        """No slot of it fires until it is resumed."""
        done = self._rows.change(name, lambda row: replace(row, paused=True, paused_by=actor))
        self._tell("schedule.paused", name, actor)
        return done

    def resume(self, name: str, actor: str = "operator") -> Schedule:
        """Go on with the next slot from now; those of the pause stay left out."""

        def resumed(row: Schedule) -> Schedule:
            if not row.paused:
                return row
            next_at = following(row.timing(), self._app.store.now())
            return replace(row, paused=False, paused_by=None, next_at=next_at)

        done = self._rows.change(name, resumed)
        self._tell("schedule.resumed", name, actor)
        return done

    def edit(self, name: str, actor: str = "operator", **changes: Unpack[Edit]) -> Schedule:
        """Change it at run time; the next deploy of the code leaves that as it is."""
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
        """Forget what operators edited: the code's word holds again."""
        done = self._rows.change(name, lambda row: replace(row, edited={}))
        self._tell("schedule.edited", name, actor)
        return done

    def run_now(self, name: str) -> JobRef:
        """One job of it at once, beside its slots, whether it is paused or not."""
        job = any_job(self._app, name, self.get(name).terms, self._app.store.now())
        return self._app.enqueue_many([job])[0]

    def synchronise(self, *, starting: bool = True) -> Iterable[Schedule]:
        """What the code declares into rows, as they are then: see `declare`."""
        return synchronise(self._app, self._rows, self.declared, starting=starting)

    def _tell(self, action: str, name: str, actor: str) -> None:
        self._app.signals.emit(action, schedule=name, actor=actor)
        self._app.operator.audit.note(actor, action, name)
