"""What is free on this machine and closed to others."""

from __future__ import annotations

import httpx
import pytest

from tenure import Tenure
from tenure.access import IdentitySettings, Keys, Permission
from tenure.api.kit.identity import check_binding
from tenure.api.kit.identity.binding import BindingRefused
from tenure.api.kit.identity.loopback import is_loopback

JWT = IdentitySettings(
    jwt_issuer="https://login", jwt_audience=("us",), jwt_jwks_url="https://login/keys"
)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "[::1]", "localhost"])
def test_loopback_needs_no_identity(engine: Tenure, host: str) -> None:
    check_binding(host, engine)

    assert is_loopback(host)


@pytest.mark.parametrize(
    "host",
    ["0.0.0.0", "::", "", "192.168.1.5", "jobs.example.org", "localhost.evil.example"],  # noqa: S104
)
def test_elsewhere_identity_must_be_configured(engine: Tenure, host: str) -> None:
    with pytest.raises(BindingRefused, match="tenure keys create"):
        check_binding(host, engine)

    check_binding(host, engine, JWT)
    Keys(engine).create("ci", Permission.READ, actor="tester")
    check_binding(host, engine)


def test_a_key_that_is_over_does_not_count(engine: Tenure) -> None:
    Keys(engine).create("ci", Permission.READ, actor="tester", seconds=1e-6)

    with pytest.raises(BindingRefused):
        check_binding("0.0.0.0", engine)  # noqa: S104


def test_metrics_are_free_on_this_machine(client: httpx.Client) -> None:
    assert client.get("/metrics").json() is None
    assert client.get("/plain-metrics").text == "metrics"


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "jobs.example.org"},
        {"host": "evil.example:8000"},
        {"x-forwarded-for": "10.0.0.7"},
        {"forwarded": "for=10.0.0.7"},
        {"x-real-ip": "10.0.0.7"},
    ],
)
def test_metrics_asked_for_from_elsewhere_need_a_key(
    engine: Tenure, client: httpx.Client, headers: dict[str, str]
) -> None:
    key, _ = Keys(engine).create("prometheus", Permission.READ, actor="tester")
    of_tenant, _ = Keys(engine).create("acme", Permission.READ, actor="tester", tenant="acme")

    assert client.get("/metrics", headers=headers).status_code == 401
    assert client.get("/plain-metrics", headers=headers).status_code == 401
    assert client.get("/metrics", headers={**headers, "x-api-key": key}).status_code == 200
    assert client.get("/metrics", headers={**headers, "x-api-key": of_tenant}).status_code == 403


def test_a_wrong_key_is_refused_on_this_machine_too(client: httpx.Client) -> None:
    assert client.get("/metrics", headers={"x-api-key": "wrong"}).status_code == 401
