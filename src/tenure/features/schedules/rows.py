"""The rows of all schedules: read, made, and changed over the version that was read."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tenure.core.errors import ScheduleNotFound, VersionConflict
from tenure.features.schedules.schedule import SCHEDULES, Schedule
from tenure.stores.contract.parts import every

if TYPE_CHECKING:
    from tenure.app import Tenure

TRIES = 10


class Rows:
    """They are in whatever store the app has now."""

    def __init__(self, app: Tenure) -> None:
        self._app = app

    def list(self) -> list[Schedule]:
        """By name."""
        return [Schedule.of(record) for record in every(self._app.store.records, SCHEDULES)]

    def get(self, name: str) -> Schedule:
        """One of them."""
        record = self._app.store.records.find(SCHEDULES, name)
        if record is None:
            raise ScheduleNotFound(name)
        return Schedule.of(record)

    def create(self, row: Schedule) -> Schedule:
        """A new row, or the one that another worker has just made."""
        try:
            return self._put(row)
        except VersionConflict:
            return self.get(row.name)

    def change(self, name: str, change: Callable[[Schedule], Schedule]) -> Schedule:
        """Again where somebody came between; its next slot follows its new rule."""
        return self.apply(self.get(name), change)

    def apply(self, before: Schedule, change: Callable[[Schedule], Schedule]) -> Schedule:
        """The same to a row that was just read: one that stays as it is costs nothing."""
        for _ in range(TRIES):
            after = change(before)
            if after == before:
                return before
            if after.terms != before.terms:
                after = after.retimed(before, self._app.store.now())
            try:
                return self._put(after)
            except VersionConflict:
                before = self.get(before.name)
        raise VersionConflict(SCHEDULES, before.name)

    def _put(self, row: Schedule) -> Schedule:
        return Schedule.of(self._app.store.records.put(row.to_record()))
