"""Jobs of very different length on one queue: does claiming ahead help, or stand in the way?"""

from __future__ import annotations

import time
from contextlib import ExitStack
from statistics import median, quantiles

from bench.beginner import make_app
from bench.children import Child, child
from bench.databases import calm, fresh, postgres_server
from bench.figures.scale import Scale
from bench.result import Result, at_least, at_most
from tenure import State, Tenure

SLOTS, WORKERS = 20, 2
JOBS = 6_000
PACED_SECONDS = 15.0
PER_SECOND, STEP_SECONDS = 280, 0.05
ROUNDS = 3
POLL_SECONDS = 0.05


def mixed(scale: Scale) -> Result:
    """Half 1 ms, half 200 ms, 2 workers x 20 slots: jobs/s, and how late short ones begin."""
    ahead: list[tuple[float, float]] = []
    without: list[tuple[float, float]] = []
    with postgres_server() as server:
        for number in range(2 * ROUNDS):
            prefetch = ("0", "auto")[number % 2]
            with fresh(server) as url:
                (ahead if number % 2 else without).append(measure(url, prefetch, scale))
    rates = [with_[0] / plain[0] for with_, plain in zip(ahead, without, strict=True)]
    late = [with_[1] / plain[1] for with_, plain in zip(ahead, without, strict=True)]
    return Result(
        bench="mixed",
        value=median(one[0] for one in ahead),
        unit="jobs/s",
        reference=median(one[0] for one in without),
        ratio=median(rates),
        checks=[
            at_least("of the throughput without claiming ahead", median(rates), 0.95),
            at_most("p99 of begin minus due of short jobs, x without", median(late), 2.0),
        ],
        notes=[
            f"p99 {1000 * median(one[1] for one in ahead):.1f} ms claiming ahead, "
            f"{1000 * median(one[1] for one in without):.1f} ms without"
        ],
    )


def measure(url: str, prefetch: str, scale: Scale) -> tuple[float, float]:
    """Jobs a second from a backlog; then p99 seconds to begin of short jobs that come singly."""
    app = make_app(url, [])
    count = scale.rows(JOBS)
    enqueue(app, count)
    calm(url)
    with ExitStack() as stack:
        workers = [
            stack.enter_context(child("bench.beginner", url, SLOTS, prefetch))
            for _ in range(WORKERS)
        ]
        begun = time.monotonic()
        serve(workers)
        wait_for(app, count)
        rate = count / (time.monotonic() - begun)
        stop(workers)
        serve(workers)
        paced = pace(app, scale.seconds(PACED_SECONDS))
        wait_for(app, count + paced)
        late = [one for answer in stop(workers) for one in answer]
    app.close()
    return rate, quantiles(late, n=100)[98]


def serve(workers: list[Child]) -> None:
    for one in workers:
        one.tell("serve")
    for one in workers:
        one.answer()


def stop(workers: list[Child]) -> list[list[float]]:
    for one in workers:
        one.tell("stop")
    return [one.answer() for one in workers]


def enqueue(app: Tenure, count: int) -> None:
    """Short and long ones by turns."""
    now = time.time()
    app.enqueue_many([app.new(("short", "long")[n % 2], {"due": now}) for n in range(count)])


def pace(app: Tenure, seconds: float) -> int:
    """Somewhat less than two workers can do; how many there were."""
    begun, sent = time.monotonic(), 0
    while (passed := time.monotonic() - begun) < seconds:
        due = int(passed * PER_SECOND) // 2 * 2
        if due > sent:
            enqueue(app, due - sent)
            sent = due
        time.sleep(STEP_SECONDS)
    return sent


def wait_for(app: Tenure, count: int) -> None:
    deadline = time.monotonic() + 120
    while app.insight.counts().get(State.SUCCEEDED, 0) < count:
        if time.monotonic() > deadline:
            raise SystemExit("the workers did not finish in two minutes")
        time.sleep(POLL_SECONDS)
