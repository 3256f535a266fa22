"""Drain a queue with Tenure's worker, in processes of their own, and see that all is settled."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass

from bench.app import fill, make_app
from bench.children import Child, child
from bench.databases import calm
from bench.meters import cpu_seconds
from bench.triples import Reading
from tenure import JobFilter, State, Tenure

NOOP_SLOTS = 200


@dataclass(frozen=True, kw_only=True)
class Drain:
    """What is drained, and by how many workers with how many slots."""

    jobs: int
    kind: str = "noop"
    slots: int = NOOP_SLOTS
    workers: int = 1
    payload: object = None
    limit: int | None = None


def drain(url: str, server: int | None, what: Drain) -> Reading:
    """Jobs per second, from the first worker's start to the last settled job."""
    app = make_app(url)
    before = _succeeded(app)
    fill(app, what.kind, what.jobs, what.payload)
    app.close()
    calm(url)
    with ExitStack() as stack:
        limit = () if what.limit is None else (what.limit,)
        workers = [
            stack.enter_context(child("bench.worker", url, what.slots, *limit))
            for _ in range(what.workers)
        ]
        reading = timed_drain(workers, server, what.jobs)
    if _succeeded(app) - before != what.jobs:
        raise SystemExit(f"{_succeeded(app) - before} of {what.jobs} jobs are settled")
    app.close()
    return reading


def timed_drain(workers: list[Child], server: int | None, jobs: int) -> Reading:
    """Let workers that wait for the word do it; `server` is the process to charge beside them."""
    for worker in workers:
        worker.ask("warm")
    charged = cpu_seconds(server) if server else 0.0
    for worker in workers:
        worker.tell("drain")
    did = [worker.answer() for worker in workers]
    seconds = max(one["ended"] for one in did) - min(one["begun"] for one in did)
    if (ran := sum(one["jobs"] for one in did)) != jobs:
        raise SystemExit(f"{ran} of {jobs} jobs ran")
    return Reading(
        value=jobs / seconds,
        worker_us=sum(one["cpu"] for one in did) / jobs * 1e6,
        server_us=(cpu_seconds(server) - charged) / jobs * 1e6 if server else None,
    )


def _succeeded(app: Tenure) -> int:
    found = app.store.jobs.count(JobFilter(states=(State.SUCCEEDED,)))
    return found.get(State.SUCCEEDED, 0)
