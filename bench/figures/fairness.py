"""Tenants: who waits behind whom, what a thousand of them get, and what that costs."""

from __future__ import annotations

import random
from collections import Counter
from functools import partial

from bench.app import fill, make_app
from bench.children import child
from bench.databases import calm, fresh, postgres_server
from bench.drains import Drain, drain, timed_drain
from bench.figures.drain import on
from bench.figures.scale import Scale
from bench.result import Result, at_least, at_most
from bench.triples import Reading, measure
from tenure import Tenure
from tenure.stores.contract import ClaimRequest
from tenure.worker.running.slots import MOST_WAITING
from tests.support.servers import PrivateServer

JOBS = 20_000
MANY = 100_000
TENANTS = 1_000
SLOTS = 100
CLAIMS = 200


def fairness(scale: Scale) -> Result:
    """20,000 jobs of 1,000 tenants (Zipf), fair against tenant after tenant; two more questions."""
    jobs = scale.rows(JOBS)
    with postgres_server() as server:
        unfair = on(server, lambda url, pid: _zipf_drain(url, pid, jobs, unfair=True))
        many = on(server, lambda url, pid: _zipf_drain(url, pid, jobs))
        one = on(server, lambda url, pid: drain(url, pid, Drain(jobs=jobs)))
        seen = measure(unfair, many, one)
        least = _least_share(server)
        waited = _behind_many(server, scale.rows(MANY))
    return Result(
        bench="fairness",
        value=seen.value,
        unit="jobs/s",
        reference=seen.reference,
        ratio=seen.ratio,
        ratio_peer=seen.ratio_peer,
        cpu_us=seen.worker_us,
        server_us=seen.server_us,
        checks=[
            at_least("throughput, of the same run without fairness", seen.ratio, 0.9),
            at_least("least share of a backlogged tenant, of its weight", least, 0.8),
            at_most("jobs of another before a new tenant's one", waited, SLOTS + MOST_WAITING),
        ],
        notes=[*seen.notes, f"of a run with one tenant: {seen.ratio_peer:.2f}"],
    )


def zipf(count: int) -> list[str]:
    """Tenants of so many jobs: the first has a thousandth part as many as the thousandth."""
    chance = random.Random(5)
    names = [f"t{number:04}" for number in range(TENANTS)]
    weights = [1 / (place + 1) for place in range(TENANTS)]
    return [*names, *chance.choices(names, weights, k=count - TENANTS)]


def _zipf_drain(url: str, pid: int, jobs: int, *, unfair: bool = False) -> Reading:
    app = make_app(url)
    names = zipf(jobs)
    for start in range(0, jobs, 1_000):
        app.enqueue_many([app.new("noop", tenant=name) for name in names[start : start + 1_000]])
    app.close()
    calm(url)
    with child("bench.worker", url, 200) as worker:
        if unfair:
            worker.ask("unfair")
        return timed_drain([worker], pid, jobs)


def _least_share(server: PrivateServer) -> float:
    """Every tenant has more than it can get; one in ten weighs 3."""
    weights = {f"t{number:04}": 3.0 for number in range(0, TENANTS, 10)}
    with fresh(server) as url:
        app = make_app(url)
        for _ in range(150):
            names = [f"t{number:04}" for number in range(TENANTS)]
            app.enqueue_many([app.new("noop", tenant=name) for name in names])
        got: Counter[str] = Counter()
        for _ in range(CLAIMS):
            got.update(_claim(app, SLOTS * 2, weights))
        app.close()
    whole = sum(weights.get(f"t{number:04}", 1.0) for number in range(TENANTS))
    total = sum(got.values())
    shares = (
        got[name] / (total * weights.get(name, 1.0) / whole)
        for name in (f"t{number:04}" for number in range(TENANTS))
    )
    return min(shares)


def _behind_many(server: PrivateServer, many: int) -> int:
    """One tenant has 100,000; in another process a second one enqueues a single job. How many of
    the first are claimed before it.
    """
    with fresh(server) as url:
        here, elsewhere = make_app(url), make_app(url)
        fill(elsewhere, "noop", many)
        claim = partial(_claim, here, SLOTS, {})
        for _ in range(20):
            claim()
        elsewhere.enqueue("noop", tenant="small")
        served = next((number for number in range(50) if "small" in claim()), 50)
        here.close()
        elsewhere.close()
    return served * SLOTS


def _claim(app: Tenure, slots: int, weights: dict[str, float]) -> list[str]:
    request = ClaimRequest(
        owner="bench",
        kinds=["noop"],
        slots={"default": slots},
        lease_seconds=600,
        weights=weights,
    )
    return [job.tenant for job in app.store.jobs.claim(request).jobs]
