"""`/metrics` over HTTP: in an API, at a worker's own port, and to whom."""

from __future__ import annotations

import socket
from contextlib import closing

import httpx
import pytest
from fastapi import FastAPI, HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from tenure import OptionError, Tenure
from tenure.watch.metrics import Metrics, install_metrics, is_loopback, only_this_machine
from tenure.watch.serve import MetricsServer
from tenure.watch.settings import WatchSettings
from tests.watch.serving import serving

TOKEN = "a-token-of-a-scraper"


def test_an_api_shows_the_metrics_of_its_app(app: Tenure) -> None:
    api = FastAPI()
    metrics = install_metrics(api, app)
    app.enqueue("well")
    with serving(api) as url:
        plain = httpx.get(f"{url}/metrics")
        openmetrics = httpx.get(
            f"{url}/metrics", headers={"accept": "application/openmetrics-text; version=1.0.0"}
        )

    assert metrics is Metrics.of(app)
    assert plain.status_code == 200
    assert plain.headers["content-type"].startswith("text/plain; version=")
    assert 'queue_depth{queue="default"} 1.0' in plain.text
    assert openmetrics.text.endswith("# EOF\n")
    assert "/metrics" not in api.openapi()["paths"]


def test_head_has_no_body(app: Tenure) -> None:
    server = MetricsServer(app, 0)
    address = ("127.0.0.1", server.port)
    with closing(server), socket.create_connection(address, 10) as line:
        line.sendall(b"HEAD /metrics HTTP/1.0\r\n\r\n")
        head, _, body = line.makefile("rb").read().partition(b"\r\n\r\n")

    assert body == b"" and b"200 OK" in head


@pytest.mark.parametrize("header", ["x-forwarded-for", "forwarded"])
def test_what_a_proxy_passes_on_is_not_from_this_machine(app: Tenure, header: str) -> None:
    api = FastAPI()
    install_metrics(api, app)
    with serving(api) as url:
        told = httpx.get(f"{url}/metrics", headers={header: "for=10.1.2.3"})

    assert (told.status_code, told.json()["code"]) == (403, "loopback-only")


def test_a_client_from_elsewhere_is_refused() -> None:
    def client(host: str | None) -> Request:
        where = None if host is None else (host, 5)
        return Request({"type": "http", "client": where, "headers": []})

    assert only_this_machine(client("127.0.0.1")) is None
    for host in ("10.1.2.3", "testclient", None):
        refused = only_this_machine(client(host))
        assert refused is not None and refused.status_code == 403


def test_whoever_has_identity_decides(app: Tenure) -> None:
    def guard(request: Request) -> Response | None:
        allowed = request.headers.get("x-key") == "yes"
        return None if allowed else PlainTextResponse("no", 401)

    api = FastAPI()
    install_metrics(api, app, guard=guard)
    with serving(api) as url:
        assert httpx.get(f"{url}/metrics").status_code == 401
        assert httpx.get(f"{url}/metrics", headers={"x-key": "yes"}).status_code == 200


def test_identity_may_be_awaited_and_may_raise(app: Tenure) -> None:
    async def guard(request: Request) -> str:
        if request.headers.get("x-key") != "yes":
            raise HTTPException(403, "not you")
        return "a caller"

    api = FastAPI()
    install_metrics(api, app, guard=guard)
    with serving(api) as url:
        assert httpx.get(f"{url}/metrics").json() == {"detail": "not you"}
        assert httpx.get(f"{url}/metrics", headers={"x-key": "yes"}).status_code == 200


def test_a_worker_serves_its_metrics_at_a_port_of_its_own(app: Tenure) -> None:
    app.enqueue("well")
    server = MetricsServer(app, 0)
    try:
        url = f"http://127.0.0.1:{server.port}"
        told, elsewhere = httpx.get(f"{url}/metrics"), httpx.get(url)
        posted = httpx.post(f"{url}/metrics")
    finally:
        server.close()

    assert 'queue_depth{queue="default"} 1.0' in told.text
    assert (elsewhere.status_code, posted.status_code) == (404, 404)
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{url}/metrics")


def test_a_token_is_asked_for_where_there_is_one(app: Tenure) -> None:
    settings = WatchSettings.model_validate({"metrics_token": TOKEN})
    server = MetricsServer(app, 0, settings=settings)
    try:
        url = f"http://127.0.0.1:{server.port}/metrics"
        tries = ["", "Bearer", f"Bearer {TOKEN}x", f"Basic {TOKEN}", f"Bearer {TOKEN}"]
        told = [httpx.get(url, headers={"authorization": one}).status_code for one in tries]
    finally:
        server.close()

    assert told == [401, 401, 401, 401, 200]


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "example.com"])  # noqa: S104
def test_metrics_for_everybody_are_refused(app: Tenure, host: str) -> None:
    with pytest.raises(OptionError, match="TENURE_METRICS_TOKEN"):
        MetricsServer(app, 0, host=host)


def test_a_port_that_is_taken_is_one_sentence(app: Tenure) -> None:
    server = MetricsServer(app, 0)
    try:
        with pytest.raises(OptionError, match=f"127.0.0.1:{server.port}: Address already in use"):
            MetricsServer(app, server.port)
    finally:
        server.close()


@pytest.mark.parametrize(
    ("host", "here"),
    [("127.0.0.1", True), ("127.9.9.9", True), ("::1", True), ("localhost", True),
     ("10.0.0.1", False), ("::", False), ("evil.localhost.example", False)],
)  # fmt: skip
def test_loopback_is_known(host: str, here: bool) -> None:
    assert is_loopback(host) is here
