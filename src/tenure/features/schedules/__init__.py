"""Schedules: rows that say when to enqueue which job. `app.schedules` is one of `Schedules`.

A feature like any other (handlers, runners), but one that every engine includes by itself.
"""

from tenure.features.schedules.due import CatchUp
from tenure.features.schedules.schedule import Schedule
from tenure.features.schedules.schedules import Schedules

__all__ = ["CatchUp", "Schedule", "Schedules"]
