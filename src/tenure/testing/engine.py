"""For your own tests: your app on a throw-away SQLite file, its jobs run on the spot."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tenure.app import Tenure
from tenure.core.filter import JobFilter
from tenure.core.job import OPEN_STATES, Job
from tenure.core.timing.clock import Clock
from tenure.jobs.published_handlers import Published
from tenure.jobs.waiting.waiters import Waiters
from tenure.operations.insight import Insight
from tenure.operations.limits import KeptLimits
from tenure.operations.operator import Operator
from tenure.operations.tenants import Tenants
from tenure.stores import open_store
from tenure.stores.contract import Store
from tenure.worker import Worker


@contextmanager
def on_temporary_database(
    app: Tenure, folder: Path, clock: Clock | None = None
) -> Iterator[Tenure]:
    """The app on an empty SQLite file in `folder`; with a ManualClock time stands still."""
    url = f"sqlite:///{folder / 'tenure-test.db'}"
    with on_store(app, open_store(url, clock=clock, auto_migrate=True), url):
        yield app


@contextmanager
def on_store(app: Tenure, store: Store, url: str) -> Iterator[Tenure]:
    """The app on this store, which is closed at the end; `url` is what the app shows."""
    kept, kept_url = app.store, app.url
    _point(app, store, url)
    try:
        yield app
    finally:
        app.waiters.close()
        store.close()
        _point(app, kept, kept_url)


def _point(app: Tenure, store: Store, url: str) -> None:
    app.store, app.url = store, url
    app.insight = Insight(store)
    app.operator = Operator(store, app.signals, app.features.load)
    app.tenants = Tenants(store)
    app.published = Published(store, app.settings)
    app.limits = KeptLimits(store, app.handlers, app.published)
    app.queues = app.queues.on(store)
    app.waiters = Waiters(store, app.signals)
    app.features.use(store)


def run_until_idle(app: Tenure, *, concurrency: int | None = None) -> int:
    """Run what is due, and what that enqueues, until nothing is; answers the number of runs."""
    return Worker(app, concurrency=concurrency).run_until_idle()


def enqueued(app: Tenure, kind: str, **arguments: Any) -> list[Job]:
    """Open jobs of a kind whose payload has these values."""
    where = JobFilter(kinds=(kind,), states=OPEN_STATES)
    jobs = [app.get(job.id) for job in app.insight.stream(where)]
    return [job for job in jobs if _has(job.payload, arguments)]


def assert_enqueued(app: Tenure, kind: str, *, times: int = 1, **arguments: Any) -> list[Job]:
    """Fails unless so many open jobs of this kind have these arguments; shows what there is."""
    found = enqueued(app, kind, **arguments)
    if len(found) != times:
        there = [(job.kind, app.get(job.id).payload) for job in app.insight.stream()]
        raise AssertionError(
            f"expected {times} open job(s) of {kind!r} with {arguments}, found {len(found)}; "
            f"in the database: {there}"
        )
    return found


def _has(payload: Any, wanted: dict[str, Any]) -> bool:
    return isinstance(payload, dict) and all(
        name in payload and payload[name] == value for name, value in wanted.items()
    )
