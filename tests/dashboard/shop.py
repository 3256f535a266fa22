"""A small shop whose jobs show every ending. `tenure up` runs it, in tests and for screenshots."""

from __future__ import annotations

import asyncio

from tenure import Fail, Limit, RunningJob, Tenure
from tenure.core.rules.retry import Delays
from tenure.features.outbox import Event, Outbox
from tenure.features.schedules import Schedules

app = Tenure()
schedules = Schedules(app)
outbox = Outbox(app)


@app.job("order.pay")
async def pay(
    job: RunningJob, order_id: str, amount: float, currency: str = "EUR"
) -> dict[str, str]:
    """Charges the card, then mails the receipt."""
    charge = await job.step_async("charge", _charge, order_id)
    job.log(f"charged {amount:.2f} {currency} for {order_id}")
    await app.enqueue_async(
        "mail.send", {"to": f"{order_id}@example.org", "subject": "Your receipt"}
    )
    return {"charge": str(charge)}


async def _charge(order_id: str) -> str:
    await asyncio.sleep(0.01)
    return f"ch_{order_id}"


@app.job("mail.send", queue="mail", retry=Delays(0.1, 0.1), limit=Limit(running=20))
async def send(job: RunningJob, to: str, subject: str) -> str:
    """Talks to a mail server that is sometimes away."""
    await asyncio.sleep(0.005)
    if to.startswith("lost"):
        raise ConnectionError(f"connection to smtp-{job.attempt} closed after 30 s")
    if "@" not in to:
        raise Fail(f"{to!r} is no address", code="bad_address")
    return f"sent to {to}"


@app.job("report.build", queue="slow")
async def report(job: RunningJob, pages: int, seconds: float = 60.0) -> str | None:
    """Takes long, says how far it is, and stops when it is canceled."""
    for page in range(pages):
        job.progress(page / pages, f"page {page + 1} of {pages}")
        if page % 10 == 0:
            job.log(f"page {page + 1} is drawn")
        await asyncio.sleep(seconds / pages)
        if job.canceled:
            return None
    return f"{pages} pages"


@app.job("stock.sync", queue="slow", retry=Delays(0.1))
async def sync(job: RunningJob, warehouse: str) -> None:
    """Never works."""
    raise TimeoutError(f"warehouse {warehouse} did not answer")


@schedules.cron("0 6 * * 1-5", zone="Europe/Berlin")
@app.job("report.daily", queue="slow")
async def daily(job: RunningJob) -> None:
    """Every working day."""


@schedules.every(minutes=15)
@app.job("stock.refresh", queue="slow")
async def refresh(job: RunningJob) -> None:
    """Every quarter of an hour."""


@outbox.on("order.paid", subscriber="warehouse")
async def ship(job: RunningJob, event: Event) -> None:
    """Ships it."""
