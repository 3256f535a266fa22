"""The template of all applications: installed, it is migrated, run, served and commanded."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tenure import Settings, Tenure, Worker
from tenure.api import create_api
from tests.api.conftest import Served, listening
from tests.support.distributions import forget, install
from tests.support.until import until
from tests.support.up import up

APP = Path(__file__).parent.parent.parent / "apps" / "hello"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The application on the path, with the metadata that an installer writes."""
    project = tomllib.loads((APP / "pyproject.toml").read_text())["project"]
    entry = project["entry-points"]["tenure.features"]["hello"]
    monkeypatch.syspath_prepend(str(APP))
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    monkeypatch.setenv("TENURE_FEATURES", "hello")
    install(tmp_path / "site", project["name"], f"hello = {entry}")
    yield tmp_path / "site"
    forget()


@pytest.fixture
def tenure(site: Path, fresh_database_url: str) -> Iterator[Tenure]:
    made = Tenure(fresh_database_url, settings=Settings(auto_migrate=True))
    yield made
    made.close()


def test_it_is_served_and_worked_on_by_any_app(tenure: Tenure) -> None:
    worker = Worker(tenure)
    api = create_api(tenure)
    with listening(api) as url, httpx.Client(base_url=url, timeout=20) as client:
        client.headers.update(Served(tenure, api, client, url).key("admin"))
        for name in ("Ada", "Grace", "Ada"):
            assert client.post("/api/hello", json={"name": name}).status_code == 202
        worker.run_until_idle()
        found = client.get("/api/hello").json()

    assert found == [{"name": "Ada", "times": 2}, {"name": "Grace", "times": 1}]


def test_it_has_commands(site: Path, fresh_database_url: str) -> None:
    path = [str(site), str(APP), os.environ.get("PYTHONPATH", "")]
    environment = {
        **os.environ,
        "TENURE_DATABASE_URL": fresh_database_url,
        "PYTHONPATH": os.pathsep.join(filter(None, path)),
    }

    def tenure(*args: str) -> str:
        command = [sys.executable, "-m", "tenure", *args]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
        return done.stdout + done.stderr

    assert "pending hello/0001_greetings" in tenure("migrate", "--check")
    assert "CREATE TABLE hello_greetings" in tenure("migrate", "--dry-run")
    assert "applied hello/0001_greetings" in tenure("migrate")
    assert "nothing to do" in tenure("migrate")
    assert tenure("hello", "greet", "Ada") == "job 1\n"
    assert tenure("hello", "list", "--json").strip() == "[]"


def test_tenure_up_serves_it(site: Path, tmp_path: Path) -> None:
    path = os.pathsep.join(filter(None, [str(site), str(APP), os.environ.get("PYTHONPATH", "")]))
    with up(tmp_path, PYTHONPATH=path, TENURE_FEATURES="hello") as served:
        with served.client() as client:
            job = client.post("/api/hello", json={"name": "Ada"}).json()["jobId"]
            until(lambda: client.get(f"/api/jobs/{job}").json()["state"] == "succeeded")
            assert client.get("/api/hello").json() == [{"name": "Ada", "times": 1}]
        assert served.stop(signal.SIGTERM) == 0
