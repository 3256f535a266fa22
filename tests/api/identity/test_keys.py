"""API keys: who they are, what they may, and when they stop."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import httpx
import pytest

from tenure import OptionError, Tenure
from tenure.access import IdentitySettings, Keys, Permission
from tenure.core.refusals import (
    ApiKeyNotFound,
)
from tenure.testing.clock import ManualClock
from tests.api.identity.conftest import Open

ROUTES = {"read": ("GET", "/read"), "write": ("POST", "/write"), "admin": ("POST", "/admin")}


def make(engine: Tenure, permission: str = "read", **more: object) -> str:
    text, _ = Keys(engine).create("ci", Permission(permission), actor="tester", **more)  # type: ignore[arg-type]
    return text


def bearer(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"}


@pytest.mark.parametrize(
    ("permission", "allowed"),
    [("read", {"read"}), ("write", {"read", "write"}), ("admin", {"read", "write", "admin"})],
)
def test_a_key_may_what_its_permission_holds(
    engine: Tenure, client: httpx.Client, permission: str, allowed: set[str]
) -> None:
    headers = bearer(make(engine, permission))

    for need, (method, path) in ROUTES.items():
        answer = client.request(method, path, headers=headers)
        assert answer.status_code == (200 if need in allowed else 403)
        assert need in allowed or answer.json()["code"] == "forbidden"
        assert need in allowed or f"the permission '{need}'" in answer.json()["detail"]


def test_a_key_may_come_in_a_header_of_its_own(engine: Tenure, client: httpx.Client) -> None:
    assert client.get("/read", headers={"x-api-key": make(engine)}).status_code == 200


def test_nobody_is_asked_for_a_credential(client: httpx.Client) -> None:
    answer = client.get("/read")

    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    assert answer.json()["code"] == "unauthenticated"


def test_what_is_no_key_is_refused(engine: Tenure, client: httpx.Client) -> None:
    good = make(engine)
    forged = [
        good[:-1] + ("0" if good[-1] != "0" else "1"),
        good[:20] + "0" * 64,
        good.upper(),
        good + "0",
        "tenure_" + "0" * 12 + good[19:],
        "tenure_",
        "x" * 20_000,
    ]

    for text in forged:
        answer = client.get("/read", headers=bearer(text))
        assert answer.status_code == 401, text
        assert answer.headers["www-authenticate"] == 'Bearer error="invalid_token"'
    for header in ("Basic abc", "Bearer", "Bearer a b", good):
        assert client.get("/read", headers={"authorization": header}).status_code == 401


def test_a_refusal_is_told_without_the_key(engine: Tenure, client: httpx.Client) -> None:
    told: list[Mapping[str, Any]] = []
    engine.signals.subscribe(lambda name, facts: told.append(facts), "caller.refused")
    wrong = make(engine)[:-1] + "x"

    client.get("/read", headers=bearer(wrong))

    assert told == [{"how": "key", "reason": "this key is not valid or has expired"}]


def test_two_credentials_are_one_too_many(engine: Tenure, client: httpx.Client) -> None:
    key = make(engine)

    answer = client.get("/read", headers={**bearer(key), "x-api-key": key})
    assert answer.status_code == 401
    twice = [("authorization", f"Bearer {key}"), ("authorization", f"Bearer {key}")]
    assert client.get("/read", headers=twice).status_code == 401


def test_a_revoked_key_stops_at_once(engine: Tenure, client: httpx.Client) -> None:
    text, key = Keys(engine).create("ci", Permission.READ, actor="tester")
    assert client.get("/read", headers=bearer(text)).status_code == 200

    Keys(engine).revoke(key.id, actor="tester")

    assert client.get("/read", headers=bearer(text)).status_code == 401


def test_a_key_revoked_elsewhere_stops_when_it_is_no_longer_remembered(
    engine: Tenure, open_api: Open
) -> None:
    client = open_api(IdentitySettings(identity_cache_seconds=0))
    text, key = Keys(engine).create("ci", Permission.READ, actor="tester")
    assert client.get("/read", headers=bearer(text)).status_code == 200

    elsewhere = Tenure(engine.url)
    Keys(elsewhere).revoke(key.id, actor="tester")
    elsewhere.close()

    assert client.get("/read", headers=bearer(text)).status_code == 401


def test_a_key_ends_with_its_time(engine: Tenure, open_api: Open) -> None:
    clock = ManualClock()
    client = open_api(IdentitySettings(identity_cache_seconds=0), clock=clock)
    text, _ = Keys(engine, clock).create("ci", Permission.READ, actor="tester", seconds=60)
    assert client.get("/read", headers=bearer(text)).status_code == 200

    clock.advance(seconds=61)

    assert client.get("/read", headers=bearer(text)).status_code == 401


def test_the_database_does_not_hold_the_key(engine: Tenure) -> None:
    text, key = Keys(engine).create("ci", Permission.READ, actor="tester")

    record = engine.store.records.find("api_keys", key.id)

    assert record is not None
    assert text.rpartition("_")[2] not in str(record)
    assert [found.id for found in Keys(engine).list()] == [key.id]


def test_a_key_of_a_tenant_sees_its_jobs_alone(engine: Tenure, client: httpx.Client) -> None:
    headers = bearer(make(engine, "admin", tenant="acme"))
    mine = engine.enqueue("a", tenant="acme").id
    other = engine.enqueue("a", tenant="globex").id

    assert client.get(f"/jobs/{mine}", headers=headers).status_code == 200
    assert client.get(f"/jobs/{other}", headers=headers).status_code == 404
    assert client.get("/read", headers=headers).json()["tenant"] == "acme"


def test_what_belongs_to_no_tenant_needs_a_key_of_none(
    engine: Tenure, client: httpx.Client
) -> None:
    of_tenant, of_all = (bearer(make(engine, "admin", tenant=name)) for name in ("acme", None))

    assert client.get("/queues", headers=of_tenant).status_code == 403
    assert client.post("/queues/pause", headers=of_tenant).status_code == 403
    assert client.get("/queues", headers=of_all).status_code == 200
    assert client.post("/queues/pause", headers=of_all).status_code == 200


@pytest.mark.parametrize(
    "wrong",
    [{"owner": "ada"}, {"tenant": "acme", "owner": ""}, {"seconds": 0}, {"tenant": "a\nb"}],
)
def test_a_key_that_would_mean_nothing_is_not_made(
    engine: Tenure, wrong: dict[str, object]
) -> None:
    with pytest.raises(OptionError):
        make(engine, "read", **wrong)
    assert list(Keys(engine).list()) == []


def test_what_is_not_there_cannot_be_revoked(engine: Tenure) -> None:
    with pytest.raises(ApiKeyNotFound):
        Keys(engine).revoke("0" * 12, actor="tester")


def test_making_and_revoking_leave_audit_lines(engine: Tenure) -> None:
    _, key = Keys(engine).create("ci", Permission.WRITE, actor="ada")
    Keys(engine).revoke(key.id, actor="bob")

    lines = engine.operator.audit.page().rows
    told = [(line.actor, line.action, line.target) for line in lines]
    assert told == [("bob", "key.revoked", key.id), ("ada", "key.created", key.id)]
    assert abs(lines[0].at - engine.store.now()) < timedelta(minutes=5)
