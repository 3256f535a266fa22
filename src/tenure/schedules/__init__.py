"""Schedules: rows that say when to enqueue which job. `app.schedules` is one of `Schedules`.

A feature like any other (handlers, runners), but one that every engine includes by itself.
"""

from tenure.schedules.due import CatchUp
from tenure.schedules.schedule import Schedule
from tenure.schedules.schedules import Schedules

__all__ = ["CatchUp", "Schedule", "Schedules"]
