"""Fan-out: one unique job for each target, page by page, wherever it is killed.

A run is a chain of jobs, one for each page. Ending such a job, adding the jobs of its targets and
adding the job of the next page are one transaction: a page is done whole or not at all, and the
cursor is the payload of a job like any other.

    @app.schedules.cron("0 6 1 * *", zone="Europe/Berlin", slot_as="slot")
    @app.schedules.for_each("classes.billing", pages=tenants)
    def billing(tenant: str, slot: datetime) -> NewJob:
        return bill.using(tenant=tenant, key=f"{slot:%Y-%m}", key_window=YEAR).new()
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

from tenure.core.errors import OptionError
from tenure.core.job import NewJob, UniqueKey
from tenure.core.outcome import Fail
from tenure.core.page import Page
from tenure.jobs.handler import Handler
from tenure.jobs.running_job import RunningJob

if TYPE_CHECKING:
    from tenure.app import Tenure

T = TypeVar("T")
Pages = Callable[[str | None], Page[T]]
"""The targets behind a cursor (None: from the start) in a fixed order, and the next cursor."""
MakeJob = Callable[[T, datetime], NewJob]
"""The job of one target in the run of this slot."""
WINDOW_SECONDS = 30 * 86_400.0


def fan_out(app: Tenure, kind: str, pages: Pages[T], make: MakeJob[T], queue: str) -> Handler[Any]:
    """A handler of this kind that does one page and leaves a job for the next."""
    for function in (pages, make):
        if inspect.iscoroutinefunction(function):
            raise OptionError(f"for_each({kind!r}) takes plain functions: it runs in a thread")

    def walk(
        job: RunningJob,
        slot: datetime | None = None,
        after: str | None = None,
        run: str | None = None,
        done: int = 0,
    ) -> None:
        moment, name = slot or app.store.now(), run or job.id
        page = pages(after)
        cursor = _onward(page, after)
        jobs = [_unique(make(target, moment), name) for target in page.rows]
        done += len(jobs)
        with job.settle(result={"targets": done, "more": cursor is not None}) as tx:
            app.enqueue_many(jobs, tx=tx)
            if cursor is not None:
                onward = {"slot": moment.isoformat(), "after": cursor, "run": name, "done": done}
                key = f"page:{name}:{_digest(cursor)}"
                tx.enqueue(kind, onward, key=key, key_window=WINDOW_SECONDS)

    return app.job(kind, queue=queue)(walk)


def _unique(job: NewJob, run: str) -> NewJob:
    """A job without a key of its own is unique within the run, by what it says."""
    if not isinstance(job, NewJob):
        raise Fail(f"for_each needs a job for each target, made with new(), not {job!r}")
    if job.key is not None:
        return job
    key = UniqueKey(value=f"target:{run}:{_digest(job.payload)}", window_seconds=WINDOW_SECONDS)
    return job._replace(key=key)


def _onward(page: Page[Any], after: str | None) -> str | None:
    if page.next is not None and page.next == after:
        raise Fail(f"the page behind {after!r} names itself as the next one")
    return page.next


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:40]
