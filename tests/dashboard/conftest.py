"""One browser and one busy service for all tests of the page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tenure import Tenure
from tenure.access import login_link
from tenure.access.caller import Caller, How, Permission
from tests.conftest import IN_CI
from tests.dashboard.page_tab import PageTab
from tests.dashboard.shop_jobs import fill
from tests.support.browser import browsing
from tests.support.servers import ServerMissing
from tests.support.up import Up, up

SHOP = Path(__file__).with_name("shop.py")


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """`tenure up` with the shop; its database is of these tests alone."""
    folder = tmp_path_factory.mktemp("up")
    (folder / "shop.py").write_text(SHOP.read_text())
    url = f"sqlite:///{folder / 'tenure.db'}"
    with up(folder, "--app", "shop:app", TENURE_DATABASE_URL=url) as running:
        yield running


@pytest.fixture(scope="session")
def engine(service: Up) -> Iterator[Tenure]:
    """Another program on the same database."""
    made = Tenure(service.database)
    yield made
    made.close()


@pytest.fixture(scope="session")
def filled(engine: Tenure) -> Tenure:
    """With the jobs of a busy shop."""
    fill(engine)
    return engine


@pytest.fixture(scope="session")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PageTab]:
    """A missing browser is a skip on a laptop and a failure where everything must run."""
    try:
        with browsing(tmp_path_factory.mktemp("profile"), PageTab) as tab:
            yield tab
    except ServerMissing as missing:
        if IN_CI:
            pytest.fail(f"CI runs every test, but there is no {missing}")
        pytest.skip(f"not installed: {missing}")


@pytest.fixture
def browser(tab: PageTab, service: Up) -> PageTab:
    """With nothing open and nobody logged in."""
    tab.start(service.url)
    return tab


@pytest.fixture
def page(browser: PageTab, service: Up, engine: Tenure) -> PageTab:
    """Let in by an operator's link."""
    browser.enter(login_link(engine, service.url))
    return browser


@pytest.fixture
def reader(browser: PageTab, service: Up, engine: Tenure) -> PageTab:
    """Let in to read, and nothing else."""
    caller = Caller(name="ruth", how=How.KEY, tenant=None, owner=None,
                    permissions=Permission.READ.held, site=True)  # fmt: skip
    browser.enter(login_link(engine, service.url, caller=caller))
    return browser


@pytest.fixture
def tenant(browser: PageTab, service: Up, engine: Tenure) -> PageTab:
    """Let in for one tenant."""
    caller = Caller(name="tess", how=How.KEY, tenant="acme", owner=None,
                    permissions=Permission.WRITE.held)  # fmt: skip
    browser.enter(login_link(engine, service.url, caller=caller))
    return browser
