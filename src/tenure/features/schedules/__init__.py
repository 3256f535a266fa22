"""Schedules: rows that say when to enqueue which job.

schedules = Schedules(app)

An app that declares none has the installed ones: `Schedules.of(app)`.
"""

from tenure.features.schedules.declare import scheduled
from tenure.features.schedules.due import CatchUp
from tenure.features.schedules.schedule import Schedule
from tenure.features.schedules.schedules import Schedules

__all__ = ["CatchUp", "Schedule", "Schedules", "scheduled"]
