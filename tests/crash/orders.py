"""A shop that is killed: producers place orders and publish, subscribers book them.

What an order does to its process is decided by its number, so that both sides know it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tenure import NewJob, RunningJob, Tenure
from tenure.features.outbox import Event, Outbox, dispatch
from tenure.jobs.transaction import OpenTransaction
from tests.crash.fates import Fates
from tests.crash.handlers import ADD_EFFECT, AT_ONCE, PLACEHOLDER
from tests.crash.marks import mark, run_number_of

PLACED, BOOKED = "order.placed", "order.booked"
CUSTOMERS = 97
LEDGER, STOCK, REPORT = 1, 2, 3
ADD_ORDER = f"INSERT INTO crash_orders (id) VALUES ({PLACEHOLDER})"  # noqa: S608
FLAW = os.environ.get("CRASH_FLAW", "")
FATES = Fates.from_environment()

app = Tenure()
outbox = Outbox(app)
app.include(outbox)


class RolledBack(Exception):
    """The customer thought better of it."""


def die_if(moment: str, order: int) -> None:
    """The end of this process, the first time that it comes here."""
    if FATES.of(order) == moment and run_number_of(f"{moment}-{order}") == 1:
        mark("kill", order=order, moment=moment)
        os.kill(os.getpid(), 9)


def produce(share: int, shares: int) -> int:
    """One producer's orders, from behind the last one that was placed before it died."""
    mark("producer", share=share)
    with app.transaction() as tx:
        placed = [row[0] for row in tx.execute("SELECT id FROM crash_orders").fetchall()]
    last = max((order for order in placed if order % shares == share), default=share - shares)
    for order in range(last + shares, FATES.orders, shares):
        place(order)
    return 0


def place(order: int) -> None:
    """One business transaction: an order and its event, or neither."""
    if FLAW == "event_before_the_order":
        publish(None, order)
    try:
        with app.transaction() as tx:
            tx.execute(ADD_ORDER, (order,))
            if not FLAW.startswith("event_"):
                publish(tx, order)
            die_if("published", order)
            if FATES.rolls_back(order):
                raise RolledBack
    except RolledBack:
        mark("rolled back", order=order)
        return
    die_if("committed", order)
    if FLAW == "event_after_the_order":
        publish(None, order)


def publish(tx: Any, order: int) -> None:
    customer = ("Customer", order % CUSTOMERS)
    outbox.publish(tx, PLACED, aggregate=customer, data={"order": order})


@contextmanager
def booking(job: RunningJob, order: int) -> Iterator[Any]:
    """The transaction of the effect, which ends the job; with the flaw it is another one."""
    if FLAW == "effects_apart":
        with app.transaction() as tx:
            yield tx
        die_if("within", order)
        return
    with job.settle() as tx:
        yield tx
        die_if("within", order)


@outbox.on(PLACED, subscriber="ledger", ordered=True, retry=AT_ONCE)
def book(job: RunningJob, event: Event) -> None:
    """Writes a row and publishes the next event of the same customer."""
    order = event.data["order"]
    die_if("before", order)
    with booking(job, order) as tx:
        tx.execute(ADD_EFFECT, (order, LEDGER))
        outbox.publish(tx, BOOKED, aggregate=event.aggregate, data=event.data)
    die_if("after", order)


@outbox.on(PLACED, subscriber="stock", retry=AT_ONCE)
async def reserve(job: RunningJob, event: Event) -> None:
    async with job.settle() as tx:
        await tx.execute(ADD_EFFECT, (event.data["order"], STOCK))


@outbox.on(BOOKED, subscriber="report", retry=AT_ONCE)
def report(job: RunningJob, event: Event) -> None:
    with job.settle() as tx:
        tx.execute(ADD_EFFECT, (event.data["order"], REPORT))


def die_while_dispatching() -> None:
    """Some workers end when an event's deliveries are added and it has not ended itself."""
    add = dispatch._add

    def deadly(app: Tenure, jobs: Sequence[NewJob], tx: OpenTransaction) -> None:
        event = json.loads(jobs[0].payload)["event"]
        order = event["data"]["order"]
        fatal = event["type"] == PLACED and FATES.of(order) == "dispatching"
        if not (fatal and FLAW == "deliveries_forgotten"):
            add(app, jobs, tx)
        if fatal:
            die_if("dispatching", order)

    dispatch._add = deadly
