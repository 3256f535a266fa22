"""A shop on one database: its tables, its jobs and its pages. README.md says how to run it.

An order is a row and three jobs: charge the card, then write the receipt, then mail it.
"""

from __future__ import annotations

import asyncio
import json
import os
import smtplib
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from html import escape
from typing import Annotated, Any, Literal

import httpx
from fastapi import FastAPI, HTTPException, Path, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, Response
from pydantic import BaseModel, ConfigDict, Field

from tenure import Exponential, Fail, Limit, Retry, RunningJob, Tenure
from tenure.features.schedules import Schedules

PROVIDER = os.environ.get("SHOP_PROVIDER", "http://127.0.0.1:8001")
MAIL_SERVER = os.environ.get("SHOP_MAIL_SERVER", "127.0.0.1:8025")
PRICES = {"mug": 12_00, "tea": 4_50}
TABLES = [
    """create table if not exists orders (
        id varchar(32) primary key, item varchar(20) not null, quantity integer not null,
        total integer not null, email varchar(200) not null, card varchar(50) not null,
        charge varchar(50), receipt_job varchar(20) not null)""",
    """create table if not exists receipts (
        order_id varchar(32) primary key, day varchar(10) not null, total integer not null,
        page text not null)""",
    """create table if not exists reports (
        day varchar(10) primary key, orders integer not null, revenue bigint not null)""",
]

jobs = Tenure()  # the database that TENURE_DATABASE_URL names, else ./tenure.db
schedules = Schedules(jobs)


# The jobs: `tenure worker --app shop:jobs` runs them.


@jobs.job("payment.charge", retry=Exponential(base=0.5, cap=60, attempts=10), limit=Limit(rate=10))
def charge(job: RunningJob, order_id: str) -> None:
    """At most ten a second start. Whatever happens on the way, the card is charged once."""
    card, total = find("select card, total from orders where id = :id", order_id)
    number = job.step("charge", pay, order_id, card, total)
    with job.settle() as tx:  # the number and the end of this job: both or neither
        tx.execute("update orders set charge = :number where id = :id", number=number, id=order_id)


def pay(order_id: str, card: str, total: int) -> str:
    """A request that may have arrived already: the key tells the provider so."""
    request = {"reference": order_id, "card": card, "amount": total}
    key = {"Idempotency-Key": f"charge:{order_id}"}
    answer = httpx.post(f"{PROVIDER}/charges", json=request, headers=key, timeout=10)
    if answer.status_code == 402:
        raise Fail("the card was declined", code="card_declined")  # no second attempt
    if answer.status_code == 429:
        raise Retry("the provider asks for patience", delay=float(answer.headers["Retry-After"]))
    answer.raise_for_status()  # an error is retried, after 0.5 to 60 seconds
    return str(answer.json()["id"])


@jobs.job("receipt.write")
def write_receipt(job: RunningJob, order_id: str) -> None:
    """It has been paid for. The receipt and the end of this job are one transaction."""
    row = find("select item, quantity, total, email, charge from orders where id = :id", order_id)
    item, quantity, total, email, number = row
    page = f"""<!doctype html><title>Receipt</title><h1>Receipt</h1>
<p>Order {order_id} of {escape(email)}: {quantity} {item}, {total / 100:.2f} €, charge {number}
"""
    with job.settle() as tx:
        tx.execute(
            "insert into receipts (order_id, day, total, page) values (:id, :day, :total, :page)",
            id=order_id, day=f"{datetime.now(UTC):%Y-%m-%d}", total=total, page=page,
        )  # fmt: skip


@jobs.job("receipt.mail", retry=Exponential(base=1, cap=600, attempts=10))
def mail_receipt(job: RunningJob, order_id: str) -> None:
    """A mail cannot be taken back: should it go out twice, its Message-ID tells that it did."""
    email, page = find(
        "select email, page from orders join receipts on order_id = id where id = :id", order_id
    )
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "shop@example.com", email, "Your receipt"
    mail["Message-ID"] = f"<{order_id}@example.com>"
    mail.set_content(page, subtype="html")
    with smtplib.SMTP(MAIL_SERVER, timeout=10) as server:
        server.send_message(mail)


@schedules.cron("30 2 * * *", slot_as="slot")
@jobs.job("report.nightly")
def report(job: RunningJob, slot: datetime) -> None:
    """Yesterday's receipts, once a night on any number of workers; run again it says the same."""
    day = f"{slot - timedelta(days=1):%Y-%m-%d}"
    with job.settle() as tx:
        sums = "select count(*), coalesce(sum(total), 0) from receipts where day = :day"
        orders, revenue = tx.execute(sums, day=day).fetchone()
        tx.execute("delete from reports where day = :day", day=day)
        tx.execute(
            "insert into reports (day, orders, revenue) values (:day, :orders, :revenue)",
            day=day, orders=orders, revenue=revenue,
        )  # fmt: skip


def find(sql: str, order_id: str) -> Any:
    """One row of an order, or None."""
    with jobs.transaction() as tx:
        return tx.execute(sql, id=order_id).fetchone()


# The pages: `uvicorn shop:web` shows them.


@asynccontextmanager
async def lifespan(_: FastAPI) -> AsyncIterator[None]:
    """The tables first."""
    await asyncio.to_thread(make_tables)
    yield
    jobs.close()


def make_tables() -> None:
    """Where they are missing, beside those of the jobs."""
    with jobs.transaction() as tx:
        for table in TABLES:
            tx.execute(table)


class Order(BaseModel):
    """What a customer sends."""

    model_config = ConfigDict(extra="forbid")
    item: Literal["mug", "tea"]
    quantity: int = Field(ge=1, le=100)
    email: str = Field(
        pattern=r"^[A-Za-z0-9._+-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*$", max_length=200
    )
    card: str = Field(pattern=r"^tok_[a-z]+$", max_length=50)


web = FastAPI(title="Shop", lifespan=lifespan)


@web.exception_handler(RequestValidationError)
async def refuse(_: Request, error: RequestValidationError) -> Response:
    """Which field, and why. What was sent is not repeated: no JSON may be able to hold it."""
    wrong = [{"loc": one["loc"], "msg": one["msg"]} for one in error.errors()]
    return Response(json.dumps({"detail": wrong}), 422, media_type="application/json")


@web.post("/orders", status_code=201)
def place_order(order: Order) -> dict[str, str]:
    """The order and its jobs in one transaction: all of it, or nothing."""
    order_id = uuid.uuid4().hex
    with jobs.transaction() as tx:
        paid = charge.using(tx=tx).enqueue(order_id)
        receipt = write_receipt.using(tx=tx, after=paid).enqueue(order_id)
        mail_receipt.using(tx=tx, after=receipt).enqueue(order_id)
        tx.execute(
            "insert into orders (id, item, quantity, total, email, card, receipt_job)"
            " values (:id, :item, :quantity, :total, :email, :card, :receipt_job)",
            id=order_id, total=PRICES[order.item] * order.quantity, receipt_job=receipt.id,
            **order.model_dump(),
        )  # fmt: skip
    return {"order": order_id, "receipt": f"/orders/{order_id}/receipt"}


@web.get("/orders/{order_id}/receipt", response_class=HTMLResponse)
async def show_receipt(
    order_id: Annotated[str, Path(pattern="^[0-9a-f]{32}$")],
    wait_ms: Annotated[int, Query(alias="waitMs", ge=0, le=30_000)] = 15_000,
) -> HTMLResponse:
    """Waits until the receipt is there; a browser comes again by itself where that takes longer."""
    sql = "select receipt_job, page from orders left join receipts on order_id = id where id = :id"
    row = await asyncio.to_thread(find, sql, order_id)
    if row is None:
        raise HTTPException(404, "there is no such order")
    if row[1] is None:
        job = await jobs.wait_async(row[0], wait_ms / 1000)
        if not job.state.final:
            again = {"Refresh": "2", "Retry-After": "2"}
            return HTMLResponse("<p>Your payment is on its way …", 202, again)
        row = await asyncio.to_thread(find, sql, order_id)
    if row[1] is None:
        raise HTTPException(402, "this order could not be paid, so there is no receipt")
    return HTMLResponse(row[1])


@web.get("/reports")
def reports() -> list[dict[str, Any]]:
    """The latest thirty."""
    with jobs.transaction() as tx:
        found = tx.execute("select day, orders, revenue from reports order by day desc limit 30")
        return [dict(zip(("day", "orders", "revenue"), row, strict=True)) for row in found]
