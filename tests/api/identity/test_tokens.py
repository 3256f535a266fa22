"""Bearer tokens by JWKS: what is taken, and all that is not."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import jwt
import pytest

from tenure import Tenure
from tenure.access import IdentitySettings, Keys, Permission
from tenure.api.kit.identity import jwks
from tenure.testing.clock import ManualClock
from tests.api.identity.conftest import Open
from tests.api.identity.issuer import (
    AUDIENCE,
    ISSUER,
    Issuer,
    claims,
    private_key,
    public_jwk,
    public_pem,
    serve_issuer,
    token,
)
from tests.support.until import until

NOW = int(time.time())
HOUR = 3_600


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    with serve_issuer() as made:
        yield made


@pytest.fixture
def client(open_api: Open, issuer: Issuer) -> httpx.Client:
    return open_api(issuer.settings())


def ask(
    client: httpx.Client, text: str, path: str = "/read", method: str = "GET"
) -> httpx.Response:
    return client.request(method, path, headers={"authorization": f"Bearer {text}"})


def test_a_good_token_names_tenant_owner_and_permission(client: httpx.Client) -> None:
    answer = ask(client, token())

    assert answer.json() == {"name": "user:ada", "tenant": "acme", "owner": "ada"}
    assert ask(client, token(), "/write", "POST").status_code == 200
    assert ask(client, token(), "/admin", "POST").status_code == 403


WRONG: dict[str, dict[str, Any]] = {
    "expired": {"exp": NOW - HOUR},
    "without an end": {"exp": None},
    "with an end beyond all numbers": {"exp": 10**400},
    "not yet valid": {"nbf": NOW + HOUR},
    "for another audience": {"aud": "api://other"},
    "for no audience": {"aud": None},
    "of another issuer": {"iss": "https://login.example.org/globex/v2.0"},
    "of no issuer": {"iss": None},
    "of no tenant": {"tid": None},
    "of no owner": {"oid": None},
    "of an owner that is no text": {"oid": ["ada"]},
    "of an owner with a new line": {"oid": "ada\nadmin"},
    "of a tenant too long to store": {"tid": "x" * 101},
    "signed by another key": {"key": "two"},
    "signed by an unknown key": {"kid": "k9"},
    "that names no key": {"kid": None},
    "that names a path as its key": {"kid": "../../dev/null"},
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_a_wrong_token_is_refused(client: httpx.Client, wrong: dict[str, Any]) -> None:
    answer = ask(client, token(**wrong))

    assert answer.status_code == 401
    assert answer.json()["code"] == "unauthenticated"
    assert answer.headers["www-authenticate"] == 'Bearer error="invalid_token"'


def test_a_token_without_a_signature_is_refused(client: httpx.Client) -> None:
    unsigned = jwt.encode(claims(), "", "none", {"kid": "k1"})

    assert ask(client, unsigned).status_code == 401
    assert ask(client, unsigned + token().rpartition(".")[2]).status_code == 401


def test_a_token_signed_with_the_public_key_as_a_secret_is_refused(client: httpx.Client) -> None:
    head = encoded({"alg": "HS256", "typ": "JWT", "kid": "k1"}) + "." + encoded(claims())
    seal = hmac.new(public_pem("one"), head.encode(), hashlib.sha256).digest()

    assert (
        ask(client, f"{head}.{base64.urlsafe_b64encode(seal).decode().rstrip('=')}").status_code
        == 401
    )


@pytest.mark.parametrize("algorithm", ["RS384", "PS256"])
def test_another_algorithm_of_the_same_key_is_refused(client: httpx.Client, algorithm: str) -> None:
    text = jwt.encode(claims(), private_key("one"), algorithm, {"kid": "k1"})

    assert ask(client, text).status_code == 401


def test_a_changed_token_is_refused(client: httpx.Client) -> None:
    head, _, seal = token().split(".")

    assert ask(client, f"{head}.{encoded(claims(oid='root'))}.{seal}").status_code == 401


def test_a_token_cannot_bring_its_own_key(client: httpx.Client, issuer: Issuer) -> None:
    for extra in (
        {"jwk": public_jwk("two", "k1")},
        {"jku": issuer.url},
        {"x5u": issuer.url},
        {"crit": ["exp"]},
    ):
        headers = {"kid": "k1", **extra}
        assert (
            ask(client, jwt.encode(claims(), private_key("two"), "RS256", headers)).status_code
            == 401
        )
    critical = jwt.encode(claims(), private_key("one"), "RS256", {"kid": "k1", "crit": ["exp"]})
    assert ask(client, critical).status_code == 401


@pytest.mark.parametrize(
    "text",
    ["a", "a.b.c", "....", "é.é.é", f"{base64.urlsafe_b64encode(b'[' * 9_000).decode()}.e30.e30"],
)
def test_what_is_no_token_is_refused(client: httpx.Client, text: str) -> None:
    headers = [(b"authorization", b"Bearer " + text.encode())]

    assert client.get("/read", headers=headers).status_code == 401


def test_without_an_issuer_no_token_is_good(open_api: Open) -> None:
    assert ask(open_api(), token()).status_code == 401


def test_tokens_of_other_tenants_are_refused(open_api: Open, issuer: Issuer) -> None:
    shared = "https://login.example.org/{tenantid}/v2.0"
    client = open_api(issuer.settings(jwt_issuer=shared, jwt_tenants=("acme", "globex")))
    other = "https://login.example.org/other/v2.0"

    assert ask(client, token()).status_code == 200
    assert ask(client, token(tid="other", iss=other)).status_code == 401
    assert ask(client, token(tid="globex")).status_code == 401
    assert ask(client, token(tid="acme", iss=shared)).status_code == 401


@pytest.mark.parametrize(
    ("given", "allowed"),
    [
        ({"scp": "tenure.read"}, {"/read"}),
        ({"scp": None, "roles": ["tenure.admin"]}, {"/read", "/write", "/admin"}),
        ({"scp": "openid profile"}, set()),
        ({"scp": None}, set()),
        ({"scp": "tenure.adminx tenure.", "roles": {"tenure.admin": 1}}, set()),
    ],
)
def test_permissions_come_from_scopes_and_roles(
    client: httpx.Client, given: dict[str, Any], allowed: set[str]
) -> None:
    for path in ("/read", "/write", "/admin"):
        answer = ask(client, token(**given), path, "GET" if path == "/read" else "POST")
        assert answer.status_code == (200 if path in allowed else 403), path


def test_an_admin_of_a_tenant_is_none_of_the_site(client: httpx.Client) -> None:
    admin = token(roles=["tenure.admin"])

    assert ask(client, admin).json() == {"name": "user:ada", "tenant": "acme", "owner": None}
    assert ask(client, admin, "/queues").status_code == 403


def test_admins_of_site_tenants_reach_every_tenant(open_api: Open, issuer: Issuer) -> None:
    client = open_api(issuer.settings(jwt_tenants=("acme",), jwt_site_tenants=("acme",)))

    assert ask(client, token(), "/queues").status_code == 200
    assert ask(client, token()).json()["tenant"] == "acme"
    assert ask(client, token(roles=["tenure.admin"])).json()["tenant"] is None
    assert ask(client, token(roles=["tenure.admin"]), "/queues/pause", "POST").status_code == 200


def test_claims_and_prefix_can_be_others(open_api: Open, issuer: Issuer) -> None:
    settings = issuer.settings(
        jwt_tenant_claim="",
        jwt_owner_claim="sub",
        jwt_permission_claims=("permissions",),
        jwt_permission_prefix="jobs:",
    )
    client = open_api(settings)

    answer = ask(client, token(sub="auth0|1", permissions=["jobs:read"]))
    assert answer.json() == {"name": "user:auth0|1", "tenant": "", "owner": "auth0|1"}
    assert ask(client, token(sub="auth0|1", scp="tenure.admin")).status_code == 403


def test_keys_are_fetched_once_for_many_tokens(client: httpx.Client, issuer: Issuer) -> None:
    for _ in range(5):
        assert ask(client, token()).status_code == 200

    assert issuer.asked == 1


def test_a_new_key_of_the_issuer_is_found_by_one_fetch(open_api: Open, issuer: Issuer) -> None:
    clock = ManualClock()
    client = open_api(issuer.settings(), clock=clock)
    assert ask(client, token()).status_code == 200
    clock.advance(seconds=61)
    issuer.keys = [public_jwk("two", "k2")]

    assert ask(client, token("two", "k2")).status_code == 200
    assert ask(client, token("one", "k1")).status_code == 401, "its key is no longer there"
    assert issuer.asked == 2


def test_unknown_keys_do_not_make_us_ask_again_and_again(open_api: Open, issuer: Issuer) -> None:
    clock = ManualClock()
    client = open_api(issuer.settings(), clock=clock)

    for number in range(10):
        assert ask(client, token(kid=f"unknown-{number}")).status_code == 401
    assert issuer.asked == 1
    clock.advance(seconds=61)
    assert ask(client, token(kid="unknown")).status_code == 401
    assert issuer.asked == 2


def test_a_withdrawn_key_is_refused_when_keys_are_old(open_api: Open, issuer: Issuer) -> None:
    clock = ManualClock()
    client = open_api(issuer.settings(), clock=clock)
    assert ask(client, token()).status_code == 200
    issuer.keys = [public_jwk("two", "k2")]

    clock.advance(seconds=HOUR + 1)

    assert ask(client, token()).status_code == 401


def test_the_last_good_keys_serve_while_the_issuer_is_away(open_api: Open, issuer: Issuer) -> None:
    clock = ManualClock()
    client = open_api(issuer.settings(), clock=clock)
    assert ask(client, token()).status_code == 200
    issuer.status = 500

    clock.advance(seconds=2 * HOUR)
    assert ask(client, token()).status_code == 200
    clock.advance(seconds=24 * HOUR)
    assert ask(client, token()).status_code == 503


BROKEN: dict[str, dict[str, Any]] = {
    "an error": {"status": 500},
    "a redirect": {"status": 302},
    "no JSON": {"body": b"<html>"},
    "no keys": {"body": b"{}"},
    "too much": {"body": b" " * 2_000_000},
    "a short key": {"keys": [{**public_jwk("one", "k1"), "n": "AQAB"}]},
    "a key that does not sign": {"keys": [public_jwk("one", "k1", use="enc")]},
    "a key of another algorithm": {"keys": [public_jwk("one", "k1", alg="RS512")]},
    "a shared secret": {"keys": [{"kty": "oct", "kid": "k1", "k": "c2VjcmV0"}]},
    "no name": {"keys": [{**public_jwk("one", "k1"), "kid": 1}]},
}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
def test_keys_that_cannot_be_had_are_a_503(
    client: httpx.Client, issuer: Issuer, broken: dict[str, Any]
) -> None:
    for name, value in broken.items():
        setattr(issuer, name, value)

    answer = ask(client, token())

    assert answer.status_code == 503
    assert answer.json()["code"] == "identity_unavailable"


def test_an_issuer_that_is_back_is_asked_again_soon(open_api: Open, issuer: Issuer) -> None:
    clock = ManualClock()
    client = open_api(issuer.settings(), clock=clock)
    issuer.status = 500
    assert ask(client, token()).status_code == 503
    issuer.status = 200

    clock.advance(seconds=6)

    assert ask(client, token()).status_code == 200


def test_tokens_that_wait_for_a_slow_issuer_leave_others_alone(
    open_api: Open, issuer: Issuer, engine: Tenure, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More of them than there are threads for requests: one asks the issuer, the rest wait."""
    monkeypatch.setattr(jwks, "FETCH_SECONDS", 20.0)
    issuer.go_on = threading.Event()
    client = open_api(issuer.settings())
    key, _ = Keys(engine).create("ci", Permission.READ, actor="test")
    with ThreadPoolExecutor(60) as pool:
        waiting = [pool.submit(ask, client, token(kid=f"unknown-{n}")) for n in range(60)]
        until(lambda: issuer.asked == 1)
        known = [ask(client, key).status_code for _ in range(10)]
        early = [one for one in waiting if one.done()]
        issuer.go_on.set()

    assert (known, early) == ([200] * 10, [])
    assert {one.result().status_code for one in waiting} == {401}
    assert issuer.asked == 1


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"jwt_audience": ()}, "TENURE_JWT_AUDIENCE"),
        ({"jwt_jwks_url": ""}, "TENURE_JWT_JWKS_URL"),
        ({"jwt_jwks_url": "http://login.example.org/keys"}, "https"),
        ({"jwt_jwks_url": "file:///etc/keys"}, "https"),
        ({"jwt_issuer": "https://login/{tenantid}"}, "TENURE_JWT_TENANTS"),
        ({"jwt_site_tenants": ("acme",)}, "TENURE_JWT_SITE_TENANTS"),
        ({"jwt_tenant_claim": "", "jwt_tenants": ("acme",)}, "TENURE_JWT_TENANT_CLAIM"),
    ],
)
def test_settings_that_would_let_too_many_in_are_refused(
    issuer: Issuer, given: dict[str, Any], said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        issuer.settings(**given)


def test_lists_in_the_environment_are_comma_separated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TENURE_JWT_ISSUER", ISSUER)
    monkeypatch.setenv("TENURE_JWT_AUDIENCE", f"{AUDIENCE}, other")
    monkeypatch.setenv("TENURE_JWT_JWKS_URL", "https://login.example.org/keys")

    assert IdentitySettings().jwt_audience == (AUDIENCE, "other")


def encoded(part: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")
