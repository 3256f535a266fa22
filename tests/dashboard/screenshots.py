"""Pictures of every screen: `make screenshots`. Four of them are in the README.

A real service with the shop; its charts show the hour before, spread from what really ran.
"""

from __future__ import annotations

import math
import sqlite3
import sys
import tempfile
from pathlib import Path

from tenure import JobFilter, Tenure
from tenure.access import login_link
from tests.dashboard.page_tab import SCREENS, PageTab
from tests.dashboard.shop_jobs import fill
from tests.support.browser import browsing
from tests.support.until import until
from tests.support.up import up

ROOT = Path(__file__).resolve().parents[2]
LOOKS = {"light": (1280, 860, False), "dark": (1280, 860, True), "narrow": (390, 844, False)}
README = ("overview", "jobs", "job", "failures")
MINUTE = 60_000_000


def main(folder: Path) -> None:
    """All screens in all looks, and the README's four."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as made:
        here = Path(made)
        (here / "shop.py").write_text((ROOT / "tests/dashboard/shop.py").read_text())
        database = here / "tenure.db"
        url = f"sqlite:///{database}"
        with (
            up(here, "--app", "shop:app", TENURE_DATABASE_URL=url) as service,
            browsing(here / "profile", PageTab) as page,
        ):
            engine = Tenure(service.database)
            fill(engine, orders=240)
            until(lambda: minutes(database) > 0, 30)
            spread(database)
            page.start(service.url)
            page.enter(login_link(engine, service.url))
            take_all(page, screens(engine), folder)
            engine.close()


def screens(engine: Tenure) -> dict[str, tuple[str, str]]:
    """Name: address and heading."""
    found = {
        (address.strip("/") or "overview"): (address, title) for address, title in SCREENS.items()
    }
    paid = newest(engine, "order.pay")
    dead = newest(engine, "stock.sync")
    running = newest(engine, "report.build")
    return {
        **found,
        "jobs": ("/jobs?q=state%3Abad+state%3Aopen", "Jobs"),
        "new": ("/new?kind=order.pay", "New job"),
        "job": (f"/jobs?q=state%3Abad&job={dead}", "Jobs"),
        "running": (f"/jobs/{running}", "report.build"),
        "page": (f"/jobs/{paid}", "order.pay"),
        "flow": (f"/flow/{paid}", "Flow"),
        "nothing": ("/nothing", "There is no such page"),
    }


def newest(engine: Tenure, kind: str) -> str:
    return next(iter(engine.insight.stream(JobFilter(kinds=(kind,))))).id


def take_all(page: PageTab, addresses: dict[str, tuple[str, str]], folder: Path) -> None:
    for look, (width, height, dark) in LOOKS.items():
        (folder / look).mkdir(parents=True, exist_ok=True)
        page.look(width, height, dark=dark)
        for name, (address, title) in addresses.items():
            page.visit(address, title)
            until(lambda: page.run("document.querySelector('.live')?.textContent") == "live")
            page.picture(folder / look / f"{name}.png")
            if look == "light" and name in README:
                page.picture(ROOT / f"docs/images/dashboard-{name}.png")


def minutes(database: Path) -> int:
    with sqlite3.connect(database) as direct:
        [(found,)] = direct.execute("select count(*) from tenure_rollups")
    return int(found)


def spread(database: Path) -> None:
    """The last minute's counts over the hour before it, in waves."""
    with sqlite3.connect(database, timeout=10) as direct:
        spans = [row[0] for row in direct.execute("select distinct span from tenure_rollups")]
        for back in range(1, 60):
            part = 6 + 3 * math.sin(back / 7) + (back * 37 % 5)
            direct.execute(
                "insert or ignore into tenure_rollups select span, at - ?, queue, kind, measure, "
                "source, max(1, cast(n * ? / 12 as integer)) from tenure_rollups "
                "where span = ? and at = (select max(at) from tenure_rollups where span = ?) "
                "and (measure not in (3, 4, 8) or ? % 5 < 2)",
                (back * MINUTE, part, min(spans), min(spans), back),
            )


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build/screenshots")
