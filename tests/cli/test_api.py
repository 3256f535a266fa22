"""`tenure api`: a real server, in one process or several, on loopback or refused."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess

import httpx
import pytest

from tests.cli.conftest import Shop


def serve(shop: Shop, *more: str) -> tuple[subprocess.Popen[str], str]:
    """The process and the address that it says."""
    process = shop.start("api", "--port", "0", *more)
    assert process.stdout is not None
    first = process.stdout.readline()
    found = re.search(r"http://[\d.:\[\]]+", first)
    assert found, first + process.stdout.read()
    return process, found[0]


@pytest.mark.parametrize("workers", ["1", "2"])
def test_it_serves_until_it_is_told_to_stop(shop: Shop, workers: str) -> None:
    key = shop.read("keys", "create", "ci", "--permission", "write")["key"]
    process, url = serve(shop, "--workers", workers, "--app", "shop:app")
    headers = {"authorization": f"Bearer {key}"}

    added = httpx.post(
        f"{url}/api/jobs", json={"kind": "add", "payload": {"a": 1}}, headers=headers, timeout=20
    )
    assert added.status_code == 201
    assert httpx.get(f"{url}/v1/health/ready").status_code == 200
    with httpx.stream("GET", f"{url}/api/events", headers=headers, timeout=20) as stream:
        assert "event: ready" in stream.iter_lines()
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
    assert shop.engine.get(added.json()["jobId"]).kind == "add"


def test_without_an_app_any_kind_is_taken(shop: Shop) -> None:
    key = shop.read("keys", "create", "ci", "--permission", "write")["key"]
    _, url = serve(shop)

    answer = httpx.post(
        f"{url}/api/jobs", json={"kind": "unknown"}, headers={"x-api-key": key}, timeout=20
    )

    assert answer.status_code == 201


def test_other_machines_reach_it_only_where_callers_are_known(shop: Shop) -> None:
    refused = shop.run("api", "--host", "0.0.0.0", "--port", "0")  # noqa: S104

    assert refused.returncode == 2
    assert "[binding_refused]" in refused.stderr
    shop.read("keys", "create", "ci", "--permission", "read")
    _, url = serve(shop, "--host", "0.0.0.0")  # noqa: S104
    assert url.startswith("http://0.0.0.0:")


def test_what_cannot_be_is_said_in_a_line(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        busy = shop.run("api", "--port", port)
    monkeypatch.setenv("TENURE_API_PORT", "99999")
    wrong = shop.run("api")

    assert (busy.returncode, wrong.returncode) == (2, 2)
    assert f"port {port} on 127.0.0.1 is in use" in busy.stderr
    assert "TENURE_API_PORT" in wrong.stderr


def test_the_document_is_printed_without_a_database(empty_shop: Shop) -> None:
    printed = empty_shop.run("api", "--openapi")

    assert json.loads(printed.stdout)["info"]["title"] == "Tenure"
    assert not list(empty_shop.folder.glob("*.db"))
