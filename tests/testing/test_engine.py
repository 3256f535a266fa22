"""An app on a throw-away database: all of it, and nothing of its own is touched."""

from __future__ import annotations

from pathlib import Path

import pytest

from tenure import Limit, RunningJob, Tenure
from tenure.testing import ManualClock, assert_enqueued, on_temporary_database, run_until_idle


@pytest.fixture
def app(tmp_path: Path) -> Tenure:
    app = Tenure(f"sqlite:///{tmp_path / 'own.db'}")

    @app.job("greet", limit=Limit(running=1))
    def greet(job: RunningJob, name: str) -> str:
        return f"Hello {name}"

    return app


def test_the_apps_own_database_is_not_touched(app: Tenure, tmp_path: Path) -> None:
    with on_temporary_database(app, tmp_path, ManualClock()):
        app.limits.set("greet", Limit(running=2))
        app.tenants.weigh("acme", 3)
        ref = app.enqueue("greet", {"name": "Ada"})
        assert_enqueued(app, "greet", name="Ada")

        assert run_until_idle(app) == 1
        assert app.wait(ref).result == "Hello Ada"
        assert app.limits.for_worker({}).kinds == {"greet": Limit(running=2)}

    assert not (tmp_path / "own.db").exists()
    assert app.url.endswith("own.db")
    assert app.limits.for_worker({}).kinds == {"greet": Limit(running=1)}
