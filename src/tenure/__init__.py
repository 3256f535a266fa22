"""Durable work on the database you already have. See `Tenure`."""

from tenure.app import Tenure
from tenure.core.capability import CapabilityError
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
from tenure.core.outcome import Cancel, Fail, NotFound, Outcome, Retry, Skip, Snooze, Throttled
from tenure.core.page import Page
from tenure.core.rules.limits import Limit
from tenure.core.rules.retry import NO_RETRY, Delays, Exponential, RetryPolicy
from tenure.feature import Feature, Runner
from tenure.jobs.declared_jobs import Jobs
from tenure.jobs.reference import JobFailed, JobRef
from tenure.jobs.running_job import RunningJob
from tenure.settings import Settings
from tenure.stores.contract import Change, Move
from tenure.worker import Worker
from tenure.worker.settings import WorkerSettings

__all__ = [
    "NO_RETRY",
    "ArgumentsError",
    "Cancel",
    "CapabilityError",
    "Change",
    "Delays",
    "Exponential",
    "Fail",
    "Feature",
    "FilterRequired",
    "Job",
    "JobFailed",
    "JobFilter",
    "JobNotFound",
    "JobRef",
    "Jobs",
    "KeyConflict",
    "KeyMode",
    "LeaseLost",
    "Limit",
    "Move",
    "NewJob",
    "NotFound",
    "OptionError",
    "Outcome",
    "Page",
    "PayloadError",
    "Retry",
    "RetryPolicy",
    "Runner",
    "RunningJob",
    "Settings",
    "Skip",
    "Snooze",
    "State",
    "StoreUnavailable",
    "Tenure",
    "TenureError",
    "Throttled",
    "Worker",
    "WorkerSettings",
]
