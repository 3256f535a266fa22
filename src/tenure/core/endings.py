"""Jobs whose end concerns a feature: what its plans are given, and the errors of such endings."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from tenure.core.errors import TenureError
from tenure.core.job import State

EVERY_KIND = "*"
"""Stands for all kinds; only a purge can be followed for all of them."""


class Event(StrEnum):
    """What a feature can follow in the transaction in which it happens."""

    ENDED = "ended"
    REOPENED = "reopened"
    PURGED = "purged"


class EndedJob(NamedTuple):
    """A job that has just ended, was just reopened, or is being purged.

    `state` is where it is now, `former` where it was before. An operator's cancel of a failed job
    is an ending whose former state is `failed`. A reopened job is `queued` again, and its former
    state is the end that no longer counts. For a purged job the two are the same.
    """

    id: str
    kind: str
    tenant: str
    owner: str | None
    queue: str
    state: State
    former: State
    reason: str | None
    correlation_id: str | None
    batch_id: str | None
    seq: int | None


class FeatureNeeded(TenureError):
    """A feature that this app does not have follows the jobs; they are left as they are."""

    code = "feature_needed"

    def __init__(self, kind: str, features: Sequence[str] = ()) -> None:
        named = " and ".join(repr(one) for one in features)
        whose = f"the feature {named}" if features else "a feature"
        super().__init__(
            f"{whose} follows the endings of {kind!r} jobs, and this app does not include it; "
            "use an app that does, for a command with --app"
        )
        self.kind = kind
        self.features = tuple(features)


class EndingFailed(TenureError):
    """What a feature does at the end of a job failed, so the job has not ended."""

    code = "ending_failed"
    retryable = True  # `job.settle()` raises it in the handler, which is not to blame

    def __init__(
        self, feature: str, event: Event, job_ids: Sequence[str], error: Exception
    ) -> None:
        more = f" and {len(job_ids) - 1} more" if len(job_ids) > 1 else ""
        super().__init__(
            f"the feature {feature!r} failed when job {job_ids[0]}{more} was to be {event}: "
            f"{type(error).__name__}: {error}"
        )
        self.feature = feature
        self.job_ids = tuple(job_ids)
