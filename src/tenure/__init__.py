"""Durable work on the database you already have. See `Tenure`."""

from tenure.core.errors import (
    ArgumentsError,
    FilterRequired,
    JobNotFound,
    KeyConflict,
    LeaseLost,
    OptionError,
    PayloadError,
    StoreUnavailable,
    TenureError,
)
from tenure.core.filter import JobFilter
from tenure.core.job import Job, KeyMode, NewJob, State
from tenure.core.limits import Limit
from tenure.core.outcome import Cancel, Fail, NotFound, Retry, Skip, Snooze
from tenure.core.page import Page
from tenure.core.retry import NO_RETRY, Exponential, Steps
from tenure.engine import JobRef, Tenure
from tenure.running import RunningJob
from tenure.settings import Settings
from tenure.worker import Worker

__all__ = [
    "NO_RETRY",
    "ArgumentsError",
    "Cancel",
    "Exponential",
    "Fail",
    "FilterRequired",
    "Job",
    "JobFilter",
    "JobNotFound",
    "JobRef",
    "KeyConflict",
    "KeyMode",
    "LeaseLost",
    "Limit",
    "NewJob",
    "NotFound",
    "OptionError",
    "Page",
    "PayloadError",
    "Retry",
    "RunningJob",
    "Settings",
    "Skip",
    "Snooze",
    "State",
    "Steps",
    "StoreUnavailable",
    "Tenure",
    "TenureError",
    "Worker",
]
