"""axe-core finds nothing on any screen: light and dark, empty and loaded; none is too wide."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from pprint import pformat

import pytest

from tenure import JobFilter, Tenure
from tenure.access import login_link
from tests.dashboard.page_tab import SCREENS, PageTab
from tests.support.until import until
from tests.support.up import Up, up

AXE = (Path(__file__).parent / "vendor/axe.js").read_text()
WIDE = "document.documentElement.scrollWidth - innerWidth"


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """A service without any job."""
    folder = tmp_path_factory.mktemp("empty")
    url = f"sqlite:///{folder / 'tenure.db'}"
    with up(folder, TENURE_DATABASE_URL=url) as running:
        yield running


def faults(page: PageTab, screens: dict[str, str]) -> list[object]:
    """All of them, so that one run shows what is left to do."""
    found: list[object] = []
    for address, title in screens.items():
        page.look(1280, 900)
        page.visit(address, title)
        for dark in (False, True):
            page.look(1280, 900, dark=dark)
            found += [(address, dark, one) for one in page.violations(AXE, colours=dark)]
        page.look(320, 700)
        if (wide := page.run(WIDE)) > 0:
            found.append((address, f"{wide} px too wide at 320 px"))
    return found + page.complaints


def test_no_screen_has_a_violation_when_loaded(page: PageTab, filled: Tenure) -> None:
    assert not (found := faults(page, SCREENS)), pformat(found)
    for dark in (False, True):
        page.look(1280, 900, dark=dark)
        page.visit("/jobs?q=state:bad&job=" + failed_job(filled))
        page.sees("Last error", "#job")
        assert page.violations(AXE) == []
    assert page.complaints == []


def failed_job(engine: Tenure) -> str:
    return next(iter(engine.insight.stream(JobFilter(kinds=("stock.sync",))))).id


def test_a_job_and_its_flow_have_no_violation(page: PageTab, filled: Tenure) -> None:
    paid = next(iter(filled.insight.stream(JobFilter(kinds=("order.pay",)))))
    screens = {f"/jobs/{paid.id}": "order.pay", f"/flow/{paid.id}": "Flow of job"}
    assert not (found := faults(page, screens)), pformat(found)
    page.sees("mail.send", ".canvas")


def test_dialogs_have_no_violation(page: PageTab, filled: Tenure) -> None:
    page.visit("/queues")
    page.press("?", 191)
    page.sees("Keyboard", "dialog.help")
    assert page.violations(AXE) == []
    page.press("Escape", 27)
    page.press("k", 75, control=True)
    page.sees("Overview", "dialog.palette")
    assert page.violations(AXE) == []
    page.press("Escape", 27)
    page.visit("/failures")
    page.press_button("Retry…", "main")
    page.sees("This moves", "dialog.question")
    assert page.violations(AXE) == []
    page.press("Escape", 27)


def test_no_screen_has_a_violation_when_empty(browser: PageTab, empty: Up) -> None:
    browser.start(empty.url)
    browser.enter(empty.link)
    assert not (found := faults(browser, SCREENS)), pformat(found)


def test_strangers_and_bad_addresses_get_a_page(
    browser: PageTab, service: Up, engine: Tenure
) -> None:
    browser.open(service.url)
    browser.sees("tenure keys link")
    assert browser.violations(AXE) == []

    browser.enter(login_link(engine, service.url))
    browser.visit("/nothing/here", "There is no such page")
    assert browser.violations(AXE) == []
    browser.open(f"{service.url}/login?token=used")
    until(lambda: "does not work any more" in browser.text("body"))
