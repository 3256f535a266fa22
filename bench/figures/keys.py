"""Keys of a kind: claims beside a held one, a breaker on 10,000 jobs, 300 keys with a limit."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median

from bench.app import fill, make_app
from bench.children import child
from bench.claims import claim, median_claim
from bench.databases import calm, mariadb_server, postgres_server
from bench.drains import timed_drain
from bench.figures.blocked import RUNNABLE, SLOTS
from bench.figures.scale import Scale
from bench.result import Check, Result, at_least, at_most
from bench.triples import Reading, Triples, measure
from tenure import JobFilter, Limit, State, Tenure
from tenure.core.timing.clock import to_micros

HELD = 10_000
AT_ONCE = 1_000
BREAKER_SECONDS = 60
WINDOWS = 2.2
REPLICAS = 2
KEYS = 300
JOBS_OF_A_KEY = 3
DRAINS = 3
Urls = Mapping[str, Iterator[str]]


def keys(scale: Scale) -> Result:
    """Claims of 50 beside 10,000 jobs of a held key; a breaker; 900 jobs over 300 keys."""
    with stores() as urls:
        seen = {name: _beside(next(url), next(url), scale) for name, url in urls.items()}
        drains = _drains(urls)
        breakers = _breakers(urls, scale)
    worst = max(seen.values(), key=lambda one: one.ratio)
    ratio = drains["MariaDB"] / drains["PostgreSQL"]
    return Result(
        bench="keys",
        value=worst.value,
        unit="ms",
        reference=worst.reference,
        ratio=worst.ratio,
        checks=[
            *(at_most(f"claim beside a held key, {n}", one.ratio, 1.2) for n, one in seen.items()),
            *(check for name, one in breakers.items() for check in one.checks(name)),
            at_most("900 jobs over 300 keys, MariaDB x PostgreSQL", ratio, 2),
        ],
        notes=[f"900 jobs over 300 keys, {name}: {one:.2f} s" for name, one in drains.items()]
        + [f"{name}: {note}" for name, one in seen.items() for note in one.notes],
    )


@contextmanager
def stores() -> Iterator[Urls]:
    """Addresses of empty databases, as many as are asked for."""
    with ExitStack() as stack:
        postgres = stack.enter_context(postgres_server())
        mariadb = stack.enter_context(mariadb_server())
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tenure-bench-")))
        yield {
            "PostgreSQL": (postgres.create_database() for _ in iter(int, 1)),
            "MariaDB": (mariadb.create_database() for _ in iter(int, 1)),
            "SQLite": (f"sqlite:///{folder}/{time.monotonic_ns()}.db" for _ in iter(int, 1)),
        }


def _beside(clean_url: str, full_url: str, scale: Scale) -> Triples:
    """The median claim in a clean table, and beside the jobs of a held key."""
    print(f"  claims, {clean_url.partition(':')[0]}")
    clean, full = make_app(clean_url), make_app(full_url)
    _fill_key(full, "noop", scale.rows(HELD))
    full.limits.hold("noop", "down", 3_600, "measured")
    park_all(full)
    calm(full_url)
    try:
        return measure(partial(_claims, clean), partial(_claims, full))
    finally:
        clean.close()
        full.close()


def park_all(app: Tenure) -> None:
    """Claim until every held job was met once."""
    waiting = "SELECT count(*) FROM tenure_jobs WHERE hold = 0"
    while _count(app, waiting):
        _, got = claim(app, {"default": 500})
        if got:
            raise SystemExit(f"{got} jobs of a held key were claimed")


def _claims(app: Tenure) -> Reading:
    fill(app, "noop", RUNNABLE)
    return median_claim(app, SLOTS, RUNNABLE)


def _fill_key(app: Tenure, kind: str, count: int, key: str = "down") -> None:
    for _ in range(count // AT_ONCE):
        app.enqueue_many([app.new(kind, limit_key=key) for _ in range(AT_ONCE)])


def _drains(urls: Urls) -> dict[str, float]:
    """Seconds for 900 jobs over 300 keys, of which one each may run, in turns on all stores."""
    found: dict[str, list[float]] = {name: [] for name in urls}
    for _ in range(DRAINS):
        for name, url in urls.items():
            found[name].append(drain_keys(next(url)))
            print(f"  900 jobs over 300 keys, {name}: {found[name][-1]:.2f} s", flush=True)
    return {name: median(seconds) for name, seconds in found.items()}


def drain_keys(url: str) -> float:
    """From the start of a worker to its last settled job."""
    app = make_app(url)
    app.limits.set("noop", Limit(running=1), each_key=True)
    jobs = [app.new("noop", limit_key=f"key-{n % KEYS}") for n in range(KEYS * JOBS_OF_A_KEY)]
    app.enqueue_many(jobs)
    app.close()
    calm(url)
    with child("bench.worker", url, 20) as worker:
        return len(jobs) / timed_drain([worker], None, len(jobs)).value


@dataclass(frozen=True)
class Breaker:
    """What happened while a breaker was open, and after it was closed."""

    spent: int
    started: int
    windows: int
    first_starts: list[float]

    def checks(self, name: str) -> list[Check]:
        """Beside their bars."""
        return [
            at_most(f"attempts and snoozes of held jobs, {name}", self.spent, 0),
            at_most(f"probes in {self.windows} windows, {name}", self.started, self.windows),
            at_least(f"replicas that went on, {name}", len(self.first_starts), REPLICAS),
            at_most(f"seconds to go on, {name}", max(self.first_starts, default=99), 1),
        ]


def _breakers(urls: Urls, scale: Scale) -> dict[str, Breaker]:
    """On all stores at the same time: nearly all of it is waiting."""
    print("  breakers", flush=True)
    with ThreadPoolExecutor() as pool:
        asked = {name: pool.submit(breaker, next(url), scale) for name, url in urls.items()}
        return {name: one.result() for name, one in asked.items()}


def breaker(url: str, scale: Scale) -> Breaker:
    """A breaker opens on queued jobs of two replicas; each probe is in vain, then it closes."""
    app, seconds = make_app(url), scale.seconds(BREAKER_SECONDS)
    _fill_key(app, "sleep5", scale.rows(HELD))
    begun = time.monotonic()
    app.limits.hold("sleep5", "down", seconds, "measured", probes=1)
    with ExitStack() as stack:
        for _ in range(REPLICAS):
            stack.enter_context(child("bench.worker", url, 20)).tell("serve")
        time.sleep(seconds * WINDOWS - (time.monotonic() - begun))
        started = app.store.jobs.count(JobFilter(states=(State.SUCCEEDED,)))
        spent = _count(app, "SELECT sum(attempt + snoozes) FROM tenure_jobs WHERE state = 0")
        released_at = to_micros(app.store.now())
        app.limits.release("sleep5", "down")
        time.sleep(3)
    first = _first_starts(app, released_at)
    app.close()
    return Breaker(spent, started.get(State.SUCCEEDED, 0), int(WINDOWS), first)


def _first_starts(app: Tenure, since: int) -> list[float]:
    """Seconds from the release to the first start on each replica."""
    with app.transaction() as tx:
        found = tx.execute(
            "SELECT lease_owner, min(started_at) FROM tenure_jobs WHERE started_at >= :since "
            "GROUP BY lease_owner",
            since=since,
        )
        return [(at - since) / 1e6 for _, at in found.fetchall()]


def _count(app: Tenure, query: str) -> int:
    with app.transaction() as tx:
        [(number,)] = tx.execute(query).fetchall()
        return int(number or 0)
