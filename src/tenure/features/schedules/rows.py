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
    """The rows of schedules in the app's current store."""

    def __init__(self, app: Tenure) -> None:
        self._app = app

    def list(self) -> list[Schedule]:
        """All rows, by name."""
        return [Schedule.of(record) for record in every(self._app.store.records, SCHEDULES)]

    def get(self, name: str) -> Schedule:
        """One row, or ScheduleNotFound."""
        record = self._app.store.records.find(SCHEDULES, name)
        if record is None:
            raise ScheduleNotFound(name)
        return Schedule.of(record)

    def create(self, row: Schedule) -> Schedule:
        """Insert a row; if another worker was faster, the row that it made."""
        try:
            return self._put(row)
        except VersionConflict:
            return self.get(row.name)

    def change(self, name: str, change: Callable[[Schedule], Schedule]) -> Schedule:
        """Change a row. Retried if somebody else changed it in between."""
        return self.apply(self.get(name), change)

    def apply(self, before: Schedule, change: Callable[[Schedule], Schedule]) -> Schedule:
        """The same for a row that was just read. An unchanged row is not written."""
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
