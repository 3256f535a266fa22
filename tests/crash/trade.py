"""A campaign on the outbox: orders, events and effects, and what must be true of them at the end.

From inside, orders kill their own process at a chosen moment; from outside, whoever is at work is
killed as orders and effects go on.
"""

from __future__ import annotations

import random
import signal
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from tenure import Tenure
from tenure.core.job import OPEN_STATES, State
from tenure.features.outbox import Outbox, OutboxEvent
from tests.crash.fates import Fates
from tests.crash.looking import effects
from tests.crash.marks import Marks
from tests.crash.programs import Programs, is_alive
from tests.support.servers import execute

SUBSCRIBERS = {1: "ledger", 2: "stock", 3: "report"}
SETTINGS = {"OUTBOX_CONCURRENCY": "3"}
LOOK_SECONDS = 0.1
LAST_KILL = 0.8
"""By then, as a part of all orders or effects, the last one from outside has been killed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How much of it; `deadly` orders kill from inside, `outside` are killed of each sort."""

    orders: int
    deadly: int
    outside: int
    limit_seconds: float
    producers: int = 3
    workers: int = 3

    def times(self, factor: int) -> Plan:
        """So much more of everything."""
        return Plan(
            orders=self.orders * factor,
            deadly=self.deadly * factor,
            outside=self.outside * factor,
            limit_seconds=self.limit_seconds * factor,
        )

    @property
    def fates(self) -> Fates:
        """Order by order."""
        return Fates(self.orders, self.deadly)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was found, and how much had happened."""

    orders: int
    rolled_back: int
    inside: int
    outside: int
    lost: list[str]
    ghosts: list[str]
    doubles: list[str]
    unfinished: list[str]

    @property
    def kills(self) -> int:
        """From inside and outside together."""
        return self.inside + self.outside

    @property
    def breaches(self) -> list[str]:
        """All of them."""
        return [*self.lost, *self.ghosts, *self.doubles, *self.unfinished]


@dataclass(slots=True)
class Trade:
    """One run."""

    app: Tenure
    programs: Programs
    marks: Marks
    plan: Plan
    killed: Counter[str] = field(default_factory=Counter)
    _chance: random.Random = field(default_factory=lambda: random.Random(5))

    def run(self, **settings: str) -> Verdict:
        """Until every order is placed and every event is where it belongs, or the time is over."""
        make_orders_table(self.app.url)
        settings = {**SETTINGS, **self.plan.fates.to_environment(), **settings}
        self.programs.start("clerks", str(self.plan.workers), **settings)
        shop = self.programs.start("shop", str(self.plan.producers), **settings)
        deadline = time.monotonic() + self.plan.limit_seconds
        while time.monotonic() < deadline:
            placed, done = count(self.app, "crash_orders"), count(self.app, "crash_effects")
            self._harm("producer", placed / self.plan.orders)
            self._harm("worker.started", done / (self.plan.orders * len(SUBSCRIBERS)))
            if shop.poll() is not None and self._idle():
                break
            time.sleep(LOOK_SECONDS)
        self.programs.end_all()
        return self._judge()

    def _harm(self, sort: str, progress: float) -> None:
        """Kill one of this sort, if it is time for the next."""
        due = progress / LAST_KILL * self.plan.outside
        if self.killed[sort] >= min(due, self.plan.outside):
            return
        alive = [pid for pid in {one["by"] for one in self.marks.find(sort)} if is_alive(pid)]
        if alive and self.programs.signal(self._chance.choice(sorted(alive)), signal.SIGKILL):
            self.killed[sort] += 1

    def _idle(self) -> bool:
        counts = self.app.insight.counts()
        return not any(counts.get(state, 0) for state in OPEN_STATES)

    def _judge(self) -> Verdict:
        there = orders(self.app)
        written = Counter(effects(self.app))
        return Verdict(
            orders=len(there),
            rolled_back=len({one["order"] for one in self.marks.find("rolled back")}),
            inside=len(self.marks.find("kill")),
            outside=sum(self.killed.values()),
            lost=list(_lost(self.plan.fates.kept, there, written)),
            ghosts=[*_ghosts(there, written), *_ghost_events(self.app, there)],
            doubles=[
                f"order {order} has {count} effects of {SUBSCRIBERS[who]}"
                for (order, who), count in written.items()
                if count > 1
            ],
            unfinished=[
                f"job {job.id} ({job.kind}) is {job.state}"
                for job in self.app.insight.stream()
                if job.state is not State.SUCCEEDED
            ],
        )


def _lost(kept: set[int], there: set[int], written: Counter[tuple[int, int]]) -> Iterator[str]:
    yield from (f"order {order} was never placed" for order in kept - there)
    for order in there:
        for who, name in SUBSCRIBERS.items():
            if not written[order, who]:
                yield f"order {order} has no effect of {name}"


def _ghosts(there: set[int], written: Counter[tuple[int, int]]) -> Iterator[str]:
    for order, who in written:
        if order not in there:
            yield f"an effect of {SUBSCRIBERS[who]} for order {order}, which is not there"


def _ghost_events(app: Tenure, there: set[int]) -> Iterator[str]:
    rows: Iterator[OutboxEvent] = Outbox(app).events()
    for row in rows:
        if row.payload["order"] not in there:
            yield f"event {row.id} of order {row.payload['order']}, which is not there"


def orders(app: Tenure) -> set[int]:
    """Those that were committed."""
    with app.transaction() as tx:
        return {row[0] for row in tx.execute("SELECT id FROM crash_orders").fetchall()}


def count(app: Tenure, table: str) -> int:
    """How many rows there are by now."""
    with app.transaction() as tx:
        return int(tx.execute(f"SELECT count(*) FROM {table}").fetchone()[0])  # noqa: S608


def make_orders_table(url: str) -> None:
    """Where producers leave a row in the transaction that publishes."""
    execute(url, "DROP TABLE IF EXISTS crash_orders")
    execute(url, "CREATE TABLE crash_orders (id INTEGER PRIMARY KEY)")
