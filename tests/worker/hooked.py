"""An app with hooks, and middleware around handlers of every kind, for worker processes."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from contextvars import ContextVar
from pathlib import Path

from tenure import RunningJob, Tenure, Worker

app = Tenure(os.environ.get("TENURE_DATABASE_URL", "sqlite:///unused.db"))
inside: ContextVar[tuple[str, ...]] = ContextVar("inside", default=())


def mark(text: str) -> None:
    """One line in a file that the test reads."""
    with Path(os.environ["HOOKED_MARKS"]).open("a") as file:
        file.write(f"{text}\n")


def here(name: str, job: RunningJob) -> str:
    """The name, and whether this is the process of the worker."""
    worker = int(job.claimed.lease.owner.split(":")[1])
    return f"{name} in the {'worker' if worker == os.getpid() else 'child'}"


@app.on_worker_start
def begin(worker: Worker) -> None:
    if os.environ.get("HOOKED_FAILS"):
        raise ConnectionError("no pool")
    mark(f"start {worker.id}")


@app.on_worker_stop
async def end(worker: Worker) -> None:
    counts = {state.value: count for state, count in app.insight.counts().items()}
    mark(f"stop {counts}")


@app.middleware
def plain(job: RunningJob) -> Iterator[None]:
    token = inside.set((*inside.get(), here("plain", job)))
    yield
    inside.reset(token)


@app.middleware
async def on_loop(job: RunningJob) -> AsyncIterator[None]:
    token = inside.set((*inside.get(), here("async", job)))
    mark(f"{here('async', job)} around {job.kind}")
    yield
    inside.reset(token)


@app.job("async")
async def async_handler(job: RunningJob) -> tuple[str, ...]:
    return inside.get()


@app.job("thread")
def thread_handler(job: RunningJob) -> tuple[str, ...]:
    return inside.get()


@app.job("process", runs_in="process")
def process_handler(job: RunningJob) -> tuple[str, ...]:
    return inside.get()
