"""The shop, really run: its processes are killed on the way, and every order is served once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from examples.shop import shop
from tenure import JobFilter, State, Tenure, Worker
from tenure.testing import ManualClock, on_temporary_database
from tests.examples.street import Street, end, open_street
from tests.support.until import until

ORDERS = 10
KILLS = 2
OPEN = JobFilter(states=(State.QUEUED, State.RUNNING))


@pytest.fixture
def street(fresh_database_url: str, tmp_path: Path) -> Iterator[Street]:
    with open_street(fresh_database_url, tmp_path) as opened:
        yield opened


@pytest.mark.crash
@pytest.mark.timeout(300)
def test_every_order_is_served_once_though_workers_are_killed(
    street: Street, fresh_database_url: str
) -> None:
    orders = [street.order(email=f"customer{n}@example.com") for n in range(ORDERS)]
    first = street.worker()
    orders.append(street.order("tok_slow"))
    until(lambda: orders[-1] in references(street), 60)
    end(first)  # the card is charged, and the worker has not been told

    second = street.worker()
    street.postbox.held = "held@example.com"
    orders.append(street.order(email=street.postbox.held))
    assert street.postbox.holding.wait(60)
    end(second)  # the mail is on its way, and the worker does not know whether it arrived

    street.worker()
    pages = [street.web.get(f"/orders/{order}/receipt?waitMs=30000") for order in orders]
    app = Tenure(fresh_database_url)
    until(lambda: not app.insight.counts(OPEN), 60)

    assert [page.status_code for page in pages] == [200] * len(orders)
    assert Counter(references(street)) == Counter(orders)
    assert receipts(app) == sorted(orders)
    assert app.insight.counts() == {State.SUCCEEDED: 3 * len(orders)}
    assert untroubled(app, "receipt.write", "receipt.mail")
    charges = dict(street.charges())
    for order, page in zip(orders, pages, strict=True):
        assert page.text.endswith(f"charge {charges[order]}\n")
        mail = street.postbox.mails.pop(f"<{order}@example.com>")
        assert mail.get_content().split() == page.text.split()
    assert not street.postbox.mails
    assert set(street.postbox.copies.values()) <= set(range(1, KILLS + 2))
    app.close()


def untroubled(app: Tenure, *kinds: str) -> bool:
    """They never began before what they need was there: only a kill has ended a run early."""
    found = [app.insight.history(job) for job in app.insight.stream(JobFilter(kinds=kinds))]
    return {line.entry for told in found for line in told} <= {"succeeded", "crashed"}


def references(street: Street) -> list[str]:
    return [order for order, _ in street.charges()]


def receipts(app: Tenure) -> list[str]:
    with app.transaction() as tx:
        return sorted(row[0] for row in tx.execute("select order_id from receipts").fetchall())


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
def test_pages_answer_for_what_has_no_receipt(street: Street) -> None:
    declined, waiting = street.order("tok_declined"), street.order()

    pending = street.web.get(f"/orders/{waiting}/receipt?waitMs=0")
    assert (pending.status_code, pending.headers["retry-after"]) == (202, "2")
    assert street.web.get(f"/orders/{'0' * 32}/receipt").status_code == 404

    street.worker()
    unpaid = street.web.get(f"/orders/{declined}/receipt?waitMs=30000")
    assert unpaid.status_code == 402
    assert "could not be paid" in unpaid.json()["detail"]
    assert street.web.get(f"/orders/{waiting}/receipt?waitMs=30000").status_code == 200
    assert references(street) == [waiting]

    until(lambda: street.tenure("schedules", "run", "report.nightly").wait(60) == 0, 60)
    (report,) = until(lambda: street.web.get("/reports").json(), 60)
    assert (report["orders"], report["revenue"]) == (0, 0)  # of yesterday, when there was no shop


BAD_ORDERS: list[tuple[dict[str, Any], str]] = [
    ({"item": "boat"}, "item"),
    ({"quantity": 0}, "quantity"),
    ({"quantity": 101}, "quantity"),
    ({"quantity": "many"}, "quantity"),
    ({"email": "nobody"}, "email"),
    ({"email": "ada@example.com\r\nBcc: eve@example.com"}, "email"),
    ({"email": "a" * 200 + "@example.com"}, "email"),
    ({"card": "4242 4242 4242 4242"}, "card"),
    ({"discount": 100}, "discount"),
]


JSON = "application/json"
BAD_BODIES = [
    b"",
    b"{}",
    b"[[[",
    b"{not json",
    b'{"item": "mug", "quantity": NaN, "email": "ada@example.com", "card": "tok_visa"}',
    b'{"item": "mug", "quantity": 1, "email": "\\ud800", "card": "tok_visa"}',
    b'{"\\ud800": 1}',
]


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
def test_bad_orders_are_refused_by_name_and_leave_nothing(
    street: Street, fresh_database_url: str
) -> None:
    good = {"item": "tea", "quantity": 1, "email": "ada@example.com", "card": "tok_visa"}
    for wrong, field in BAD_ORDERS:
        answer = street.web.post("/orders", json={**good, **wrong})
        assert answer.status_code == 422, wrong
        assert [problem["loc"][-1] for problem in answer.json()["detail"]] == [field]
    for body in BAD_BODIES:
        answer = street.web.post("/orders", content=body, headers={"content-type": JSON})
        assert answer.status_code == 422, body
    assert street.web.post("/orders", content=b"\xff\xfe").status_code == 422
    for place in ("%00/receipt", "nothing/receipt", f"{'0' * 32}/receipt?waitMs=soon"):
        assert street.web.get(f"/orders/{place}").status_code == 422
    assert street.web.delete("/orders").status_code == 405

    app = Tenure(fresh_database_url)
    assert app.insight.counts() == {}
    app.close()


def test_the_nightly_report_is_of_the_day_before(tmp_path: Path) -> None:
    clock = ManualClock(datetime(2026, 1, 1, 12, tzinfo=UTC))
    with on_temporary_database(shop.jobs, tmp_path, clock) as app:
        shop.make_tables()
        sell(app, "2025-12-31", 4_50)
        sell(app, "2026-01-01", 12_00, 24_00)
        Worker(app).tick()
        assert shop.reports() == []

        clock.advance(seconds=86_400)
        Worker(app).tick()
        Worker(app).tick()
        assert shop.reports() == [{"day": "2026-01-01", "orders": 2, "revenue": 36_00}]


def sell(app: Tenure, day: str, *totals: int) -> None:
    sql = "insert into receipts (order_id, day, total, page) values (:id, :day, :total, '')"
    with app.transaction() as tx:
        for total in totals:
            tx.execute(sql, id=f"{day}-{total}", day=day, total=total)
