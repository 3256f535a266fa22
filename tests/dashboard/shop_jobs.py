"""What a busy shop has in its database: jobs in every state, relations, tenants and failures."""

from __future__ import annotations

from tenure import JobRef, Tenure
from tenure.features.outbox import Outbox
from tests.support.until import until

TENANTS = ("acme", "globex", "initech")


def fill(engine: Tenure, orders: int = 30) -> None:
    """Adds the jobs and waits until those that can end have ended."""
    new = engine.new
    jobs = [
        new(
            "order.pay",
            {"order_id": f"order-{n}", "amount": 9.9 + n},
            key=f"order-{n}",
            tenant=TENANTS[n % 3],
        )
        for n in range(orders)
    ]
    jobs += [
        new("mail.send", {"to": f"lost-{n}", "subject": "Your invoice"}, tenant="acme")
        for n in range(6)
    ]
    jobs += [
        new("mail.send", {"to": "nobody", "subject": "Hello"}, tenant="globex") for _ in range(3)
    ]
    jobs += [new("stock.sync", {"warehouse": name}) for name in ("north", "south")]
    jobs.append(new("report.build", {"pages": 40, "seconds": 600}))
    jobs.append(
        new(
            "mail.send", {"to": "ada@example.org", "subject": "Later"}, delay=3600, key="newsletter"
        )
    )
    jobs += [
        new("video.encode", {"file": f"clip-{n}.mov"}, queue="video", tenant="initech")
        for n in range(4)
    ]
    refs = engine.enqueue_many(jobs)
    engine.enqueue("mail.send", {"to": "grace@example.org", "subject": "Done"}, after=[refs[-1].id])
    engine.operator.pause("video", "operator")
    _publish(engine)
    until(lambda: not _unsettled(engine, refs[: orders + 11]), 30)


def _publish(engine: Tenure) -> None:
    with engine.transaction() as tx:
        Outbox(engine).publish(tx, "order.paid", aggregate=("Order", 3), data={"total": 12})


def _unsettled(engine: Tenure, refs: list[JobRef]) -> bool:
    return any(not engine.get(ref.id).state.final for ref in refs)
