"""Alive, ready, and why not."""

from __future__ import annotations

from pathlib import Path

import httpx

from tenure import Tenure
from tenure.api import create_api
from tests.api.conftest import Served, listening
from tests.api.test_bad_input import check_problem


def test_a_service_with_a_database_is_ready(served: Served) -> None:
    assert served.get("/v1/health/live").json() == {"status": "ok", "checks": {}}
    assert served.get("/v1/health/ready").json() == {"status": "ok", "checks": {"database": "ok"}}


def test_a_service_without_its_database_lives_but_is_not_ready(tmp_path: Path) -> None:
    engine = Tenure("postgresql://nobody@127.0.0.1:1/none")
    with listening(create_api(engine)) as url:
        assert httpx.get(f"{url}/v1/health/live").status_code == 200
        body = check_problem(httpx.get(f"{url}/v1/health/ready"), 503, "not-ready")
    assert body["checks"] == {"database": "store-unavailable"}
