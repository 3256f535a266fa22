"""The screen of a feature is drawn within the dashboard, with a place in its menu."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

from tenure import Settings, Tenure
from tests.dashboard.page_tab import PageTab
from tests.features.sample import Sample
from tests.support.distributions import forget, install
from tests.support.until import until
from tests.support.up import up

ROOT = Path(__file__).parents[2]
TITLE = Sample.name.capitalize()


def test_a_feature_brings_its_screen(tab: PageTab, tmp_path: Path) -> None:
    install(tmp_path / "site", "sample", f"{Sample.name} = tests.features.sample:Sample")
    forget()
    url = f"sqlite:///{tmp_path / 'tenure.db'}"
    path = os.pathsep.join([str(tmp_path / "site"), str(ROOT), os.environ.get("PYTHONPATH", "")])
    found = {"PYTHONPATH": path, "TENURE_FEATURES": f"{Sample.name},schedules,outbox"}
    with up(tmp_path, TENURE_DATABASE_URL=url, **found) as service:
        tab.start(service.url)
        tab.enter(service.link)
        tab.sees(TITLE, "nav")
        tab.press_button(TITLE, "nav")
        tab.drawn(TITLE)
        tab.sees("Nobody has signed yet")
        assert tab.run("location.pathname") == f"/screens/{Sample.name}/book"

        with closing(Tenure(url, settings=Settings())) as engine:
            engine.enqueue(f"{Sample.name}.sign", {"name": "Ada", "words": "<b>hello</b>"})
        tab.reload(TITLE)
        until(lambda: "<b>hello</b>" in tab.text("main"))
        assert tab.complaints == []
