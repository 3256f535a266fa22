"""How soon a job starts when the queue is empty: a trickle, PostgreSQL, a worker next door."""

from __future__ import annotations

import time
from itertools import chain
from statistics import median

from bench.app import make_app
from bench.children import child
from bench.databases import postgres_server
from bench.drains import NOOP_SLOTS
from bench.figures.drain import on
from bench.figures.scale import Scale
from bench.meters import percentile
from bench.peers import measured
from bench.peers.runner import trickle
from bench.result import Result, at_most
from bench.triples import Reading, measure
from tenure import Tenure

RATE = 20.0
SECONDS = 10.0


def latency(scale: Scale) -> Result:
    """From just before the enqueue call to the start of the body, 20 jobs a second."""
    seconds, calls = scale.seconds(SECONDS), list[float]()

    def ours(url: str, _: int) -> Reading:
        reading, call = _trickle(url, seconds)
        calls.append(call)
        return reading

    with postgres_server() as server:
        peer = on(server, lambda url, pid: measured.pgqueuer_latency(url, pid, RATE, seconds))
        seen = measure(peer, on(server, ours))
    own = list(chain.from_iterable(one.subject.samples for one in seen.kept))
    theirs = [
        *chain.from_iterable(one.before.samples for one in seen.kept),
        *chain.from_iterable(one.after.samples for one in seen.kept),
    ]
    call = median(calls)
    return Result(
        bench="latency",
        value=percentile(own, 0.5),
        unit="ms",
        reference=call,
        ratio=percentile(own, 0.5) / call,
        ratio_peer=percentile(own, 0.5) / percentile(theirs, 0.5),
        checks=[
            at_most("p50 x the enqueue call", percentile(own, 0.5) / call, 2),
            at_most("p50 x PgQueuer's", percentile(own, 0.5) / percentile(theirs, 0.5), 1),
            at_most("p95 x p50", percentile(own, 0.95) / percentile(own, 0.5), 4),
            at_most("p99 x PgQueuer's", percentile(own, 0.99) / percentile(theirs, 0.99), 1),
        ],
        notes=[_percentiles("Tenure", own), _percentiles("PgQueuer", theirs), *seen.notes],
    )


def _trickle(url: str, seconds: float) -> tuple[Reading, float]:
    """Enqueue here, work there; also the median milliseconds of the enqueue call itself."""
    app = make_app(url)
    app.enqueue("noop")
    with child("bench.worker", url, NOOP_SLOTS) as worker:
        worker.ask("serve")
        time.sleep(1.0)
        sent = trickle(lambda at: _put(app, at), RATE, seconds)
        time.sleep(1.0)
        samples = tuple(each * 1e3 for each in worker.ask("stop"))
    app.close()
    if len(samples) != sent["sent"]:
        raise SystemExit(f"{len(samples)} of {sent['sent']:.0f} jobs ran")
    return Reading(value=percentile(samples, 0.5), samples=samples), sent["call"] * 1e3


def _put(app: Tenure, at: float) -> None:
    app.enqueue("stamp", {"at": at})


def _percentiles(name: str, samples: list[float]) -> str:
    parts = [f"p{part} {percentile(samples, part / 100):.2f}" for part in (50, 95, 99)]
    return f"{name}: {', '.join(parts)} ms of {len(samples)} samples"
