"""Tasks of a first-time operator, on every database: from a question to its answer or repair."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tenure import Tenure
from tests.dashboard.page_tab import PageTab
from tests.support.until import until
from tests.support.up import Up, up

SHOP = Path(__file__).with_name("shop.py")


@pytest.fixture
def shop(fresh_database_url: str, tmp_path: Path) -> Iterator[Up]:
    """The shop on each database."""
    (tmp_path / "shop.py").write_text(SHOP.read_text())
    found = {"TENURE_DATABASE_URL": fresh_database_url, "TENURE_AUTO_MIGRATE": "true"}
    with up(tmp_path, "--app", "shop:app", **found) as running:
        yield running


@pytest.fixture
def there(shop: Up) -> Iterator[Tenure]:
    """Another program on that database."""
    with closing(Tenure(shop.database)) as made:
        yield made


def test_an_operator_finds_the_cause_and_mends_it(shop: Up, there: Tenure, tab: PageTab) -> None:
    """One service answers three questions: a start on each database takes longer than they do."""
    tab.start(shop.url)
    tab.enter(shop.link)
    why_is_order_3_not_paid(there, tab)
    replay_the_smtp_failures_of_acme(there, tab)
    which_kind_has_no_worker(there, tab)


def why_is_order_3_not_paid(engine: Tenure, page: PageTab) -> None:
    engine.operator.pause("default", "ada")
    payload = {"order_id": "order-3", "amount": 5}
    job = engine.enqueue("order.pay", payload, key="order-3")
    page.visit("/jobs")
    page.search("payload.order_id:order-3")
    page.sees("the queue 'default' was paused by ada", ".jobs tbody")

    page.visit("/queues")
    page.press_button("Resume", "tr:has(a[href*='default'])")
    until(lambda: engine.get(job.id).state == "succeeded")


def replay_the_smtp_failures_of_acme(engine: Tenure, page: PageTab) -> None:
    lost = {"to": "lost", "subject": "Invoice"}
    mine = [engine.enqueue("mail.send", lost, tenant="acme") for _ in range(3)]
    other = engine.enqueue("mail.send", lost, tenant="globex")
    until(lambda: all(engine.get(job.id).state == "dead" for job in [*mine, other]))
    page.visit("/jobs?q=tenant%3Aacme+state%3Abad+error%3Asmtp")
    page.sees("3 loaded, all that match")
    page.press("a", 65)
    page.press_button("Retry 3", ".bulk")
    page.sees("Retry 3 jobs?", "dialog.question")
    page.sees("of the tenant acme", "dialog.question")
    page.click("dialog.question button.strong")

    until(lambda: all(engine.get(job.id).fence > 4 for job in mine))
    assert engine.get(other.id).state == "dead"


def which_kind_has_no_worker(engine: Tenure, page: PageTab) -> None:
    jobs = [engine.enqueue("video.encode", {"n": n}) for n in range(2)]
    page.visit("/")
    page.sees("no live worker takes kind 'video.encode'", "#needs-you")
    page.press_button("Cancel 2 jobs", "#needs-you")
    page.sees("Cancel 2 jobs?", "dialog.question")
    page.click("dialog.question button.strong")

    until(lambda: all(engine.get(job.id).state == "canceled" for job in jobs))
    assert page.complaints == []
