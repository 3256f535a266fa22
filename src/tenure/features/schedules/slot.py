"""The job of a slot."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from tenure.core.job import NewJob, UniqueKey
from tenure.features.schedules.terms import Terms
from tenure.jobs.codec import encode
from tenure.jobs.option_values import TEN_YEARS

if TYPE_CHECKING:
    from tenure.app import Tenure

SHORTEST_WINDOW = 30 * 86_400.0
A_DAY = 86_400.0


def slot_job(app: Tenure, name: str, terms: Terms, slot: datetime) -> NewJob:
    """The job of one slot, under a key that outlives its purging."""
    window = max(SHORTEST_WINDOW, min((app.settings.keep_seconds or 0.0) + A_DAY, TEN_YEARS))
    key = UniqueKey(value=f"schedule:{name}:{slot.isoformat()}", window_seconds=window)
    return any_job(app, name, terms, slot)._replace(key=key)


def any_job(app: Tenure, name: str, terms: Terms, slot: datetime) -> NewJob:
    """A job of the schedule outside its slots."""
    return NewJob(
        kind=terms.kind,
        payload=encode(terms.arguments(slot), app.settings.payload_limit_bytes),
        queue=terms.queue,
        priority=terms.priority,
        tenant=terms.tenant,
        max_attempts=terms.max_attempts,
        enqueued_by=f"schedule:{name}",
    )
