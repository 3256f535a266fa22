"""What the page costs on the wire, and that it asks nobody else."""

from __future__ import annotations

import re

import pytest

from tenure import Tenure
from tests.dashboard.page_tab import SCREENS, PageTab
from tests.support.until import until

MOST_BYTES = 80_000
MOST_REQUESTS = 15
MOST_OF_A_LIST = 3
DATA = re.compile(r"/api/(?!events)")


def test_the_first_screen_with_its_charts_is_light(page: PageTab, filled: Tenure) -> None:
    page.ask("Network.setCacheDisabled", cacheDisabled=True)
    page.open("about:blank")
    page.forget_requests()
    page.visit("/")
    until(lambda: page.run("document.querySelectorAll('.plot canvas').length") == 3)
    page.ask("Network.setCacheDisabled", cacheDisabled=False)

    assert len(page.requests) <= MOST_REQUESTS, page.requests
    assert page.received <= MOST_BYTES


@pytest.mark.parametrize("address", SCREENS)
def test_a_list_makes_few_requests_and_none_elsewhere(
    page: PageTab, filled: Tenure, address: str
) -> None:
    page.open("about:blank")
    page.forget_requests()
    page.visit(address)

    asked = [url for url in page.requests if not url.startswith("about:")]
    assert all(url.startswith(page.url) for url in asked), asked
    assert len({url for url in asked if DATA.search(url)}) <= MOST_OF_A_LIST, asked
    assert page.complaints == []
