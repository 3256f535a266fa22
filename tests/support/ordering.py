"""Producers that commit late, workers that fail at times: does each aggregate keep its order?"""

from __future__ import annotations

import random
import threading
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import pairwise

from tenure import Exponential, RunningJob, Settings, Tenure, Worker
from tenure.core.errors import StoreUnavailable

COUNTERS = "CREATE TABLE counters (aggregate INTEGER PRIMARY KEY, seq INTEGER NOT NULL)"
NEXT = "UPDATE counters SET seq = seq + 1 WHERE aggregate = {}"
READ = "SELECT seq FROM counters WHERE aggregate = {}"


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How much of it."""

    aggregates: int
    events: int
    producers: int = 8
    workers: int = 8
    failing: float = 0.05
    longest_commit: float = 0.01


@dataclass
class Seen:
    """What the handlers saw."""

    done: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    running: set[int] = field(default_factory=set)
    overlaps: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def inversions(self) -> int:
        """Events that came after a later one of their aggregate."""
        return sum(
            earlier > later for seqs in self.done.values() for earlier, later in pairwise(seqs)
        )


def run(url: str, plan: Plan) -> Seen:
    """Everything published, everything run; the business number is given out before publishing."""
    seen = Seen()
    first = _engine(url, seen, plan)
    first.store.now()  # the schema, before other tables
    with first.store.database.raw_connection() as connection:  # type: ignore[attr-defined]
        connection.cursor().execute(COUNTERS)
    with first.transaction() as tx:
        for number in range(plan.aggregates):
            tx.execute(f"INSERT INTO counters VALUES ({number}, 0)")  # noqa: S608
    engines = [_engine(url, seen, plan) for _ in range(plan.workers)]
    with ExitStack() as stack:
        for engine in engines:
            stack.callback(engine.close)
            stack.enter_context(Worker(engine, concurrency=4))
        with ThreadPoolExecutor(plan.producers) as pool:
            parts = [_part(plan, number) for number in range(plan.producers)]
            list(pool.map(lambda part: _publish(first, plan, part), parts))
        _wait(seen, plan)
    first.close()
    return seen


def _engine(url: str, seen: Seen, plan: Plan) -> Tenure:
    app = Tenure(url, settings=Settings(auto_migrate=True, poll_seconds=0.05))
    chance = random.Random(11)

    @app.job("event", retry=Exponential(base=0.01, cap=0.05, attempts=50))
    def handle(job: RunningJob, aggregate: int, seq: int) -> None:
        with seen.lock:
            seen.overlaps += aggregate in seen.running
            seen.running.add(aggregate)
        try:
            if chance.random() < plan.failing:
                raise RuntimeError("now and then")
            with seen.lock:
                seen.done[aggregate].append(seq)
        finally:
            with seen.lock:
                seen.running.discard(aggregate)

    return app


def _part(plan: Plan, producer: int) -> list[int]:
    """The aggregates of its events, in an order of its own."""
    every = [number % plan.aggregates for number in range(plan.aggregates * plan.events)]
    mine = every[producer :: plan.producers]
    random.Random(producer).shuffle(mine)
    return mine


def _publish(app: Tenure, plan: Plan, aggregates: list[int]) -> None:
    chance = random.Random(len(aggregates))
    for aggregate in aggregates:
        for _ in range(20):
            try:
                _publish_one(app, aggregate, chance.uniform(0, plan.longest_commit))
            except StoreUnavailable:
                continue
            break


def _publish_one(app: Tenure, aggregate: int, linger: float) -> None:
    with app.transaction() as tx:
        tx.execute(NEXT.format(aggregate))
        ((seq,),) = tx.execute(READ.format(aggregate)).fetchall()
        payload = {"aggregate": aggregate, "seq": int(seq)}
        tx.enqueue("event", payload, ordering_key=f"aggregate:{aggregate}")
        time.sleep(linger)  # a caller that has more to do before it commits


def _wait(seen: Seen, plan: Plan) -> None:
    deadline = time.monotonic() + 600
    while sum(map(len, seen.done.values())) < plan.aggregates * plan.events:
        if time.monotonic() > deadline:
            raise TimeoutError(f"{sum(map(len, seen.done.values()))} events are done")
        time.sleep(0.05)
