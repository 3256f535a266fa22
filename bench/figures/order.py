"""Ordering keys: what a claim costs beside 100,000 that wait, and whether the order holds."""

from __future__ import annotations

from functools import partial

from bench.app import make_app
from bench.claims import median_claim
from bench.databases import calm, fresh, postgres_server
from bench.figures.blocked import RUNNABLE, SLOTS
from bench.figures.scale import Scale
from bench.result import Result, at_most
from bench.triples import Reading, measure
from tenure import Tenure
from tests.support import ordering

WAITING = 100_000
AT_ONCE = 1_000


def order(scale: Scale) -> Result:
    """A claim of 50 beside one key with 100,000; then 200 aggregates of 100 events each."""
    with postgres_server() as server:
        urls = server.create_database(), server.create_database()
        clean, full = make_app(urls[0]), make_app(urls[1])
        wait(full, scale.rows(WAITING))
        calm(urls[1])
        seen = measure(partial(_claims, clean), partial(_claims, full))
        clean.close()
        full.close()
        plan = ordering.Plan(aggregates=200, events=max(1, round(100 * scale.factor)))
        with fresh(server) as url:
            found = ordering.run(url, plan)
    return Result(
        bench="order",
        value=seen.value,
        unit="ms",
        reference=seen.reference,
        ratio=seen.ratio,
        checks=[
            at_most("claim beside 100,000 of one key, x clean", seen.ratio, 3),
            at_most("inversions", found.inversions, 0),
            at_most("two of a key at once", found.overlaps, 0),
        ],
        notes=[f"{plan.aggregates} aggregates of {plan.events} events", *seen.notes],
    )


def wait(app: Tenure, count: int) -> None:
    """All under one key, whose head is not due for an hour."""
    app.enqueue("noop", ordering_key="one", delay=3_600)
    for _ in range(count // AT_ONCE):
        app.enqueue_many([app.new("noop", ordering_key="one") for _ in range(AT_ONCE)])


def _claims(app: Tenure) -> Reading:
    app.enqueue_many([app.new("noop") for _ in range(RUNNABLE)])
    return median_claim(app, SLOTS, RUNNABLE)
