"""Sessions of the dashboard: one-time links, cookies, CSRF, and their end."""

from __future__ import annotations

import threading
from typing import Any

import httpx
import pytest

from tenure import Tenure
from tenure.access import IdentitySettings, Keys, Permission, login_link
from tenure.access.caller import Caller, How
from tenure.access.tickets import LOGIN_LINKS, SESSIONS, Tickets
from tenure.testing.clock import ManualClock
from tests.api.identity.conftest import Open

ADA = Caller(
    name="session:ada", how=How.SESSION, tenant="acme", owner="ada",
    permissions=Permission.WRITE.held,
)  # fmt: skip


def sign_in(engine: Tenure, client: httpx.Client, **more: Any) -> httpx.Response:
    return client.get(login_link(engine, str(client.base_url), **more))


def csrf(client: httpx.Client) -> dict[str, str]:
    return {"x-csrf-token": client.get("/session").json()["csrfToken"]}


def test_a_link_opens_a_session(engine: Tenure, client: httpx.Client) -> None:
    answer = sign_in(engine, client)

    assert answer.status_code == 303
    assert answer.headers["location"] == "/"
    assert answer.headers["cache-control"] == "no-store"
    assert client.get("/read").json()["name"] == "session:operator"


def test_the_cookie_is_not_for_scripts_nor_for_other_sites(
    engine: Tenure, client: httpx.Client
) -> None:
    cookie = sign_in(engine, client).headers["set-cookie"].lower()

    assert {"httponly", "samesite=lax", "path=/"} <= {part.strip() for part in cookie.split(";")}
    assert "secure" not in cookie, "a browser would not send it to a loopback address"
    assert "domain" not in cookie


def test_elsewhere_than_on_loopback_the_cookie_needs_tls(
    engine: Tenure, client: httpx.Client
) -> None:
    link = login_link(engine, str(client.base_url))

    cookie = client.get(link, headers={"host": "jobs.example.org"}).headers["set-cookie"]

    assert cookie.startswith("__Host-tenure_session=")
    assert "Secure" in cookie


def test_a_link_is_good_once(engine: Tenure, client: httpx.Client) -> None:
    link = login_link(engine, str(client.base_url))
    assert client.get(link).status_code == 303
    client.cookies.clear()

    again = client.get(link)

    assert again.status_code == 401
    assert "set-cookie" not in again.headers
    assert client.get("/read").status_code == 401


def test_a_person_with_a_dead_link_sees_a_page(engine: Tenure, client: httpx.Client) -> None:
    link = login_link(engine, str(client.base_url))
    browser = {"accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
    assert client.get(link, headers=browser).status_code == 303

    dead = client.get(link, headers=browser)
    program = client.get(link)

    assert dead.status_code == program.status_code == 401
    assert dead.headers["content-type"] == "text/html; charset=utf-8"
    assert "tenure keys link NAME" in dead.text
    assert "set-cookie" not in dead.headers and dead.headers["cache-control"] == "no-store"
    assert program.json()


def test_of_many_who_use_a_link_at_once_one_gets_in(engine: Tenure, client: httpx.Client) -> None:
    link, statuses = login_link(engine, str(client.base_url)), []
    start = threading.Barrier(8)

    def use() -> None:
        start.wait()
        statuses.append(httpx.get(link, timeout=30).status_code)

    threads = [threading.Thread(target=use) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(statuses) == [303] + [401] * 7


def test_a_link_that_is_too_old_or_made_up_is_refused(engine: Tenure, open_api: Open) -> None:
    clock = ManualClock()
    client = open_api(clock=clock)
    secret = Tickets(engine, LOGIN_LINKS, clock).issue(ADA, 600)
    clock.advance(seconds=601)

    assert client.get(f"/login?token={secret}").status_code == 401
    assert client.get(f"/login?token={'0' * 64}").status_code == 401


def test_a_session_is_whom_the_link_was_made_for(engine: Tenure, client: httpx.Client) -> None:
    sign_in(engine, client, caller=ADA)

    assert client.get("/session").json() | {"csrfToken": ""} == {
        "name": "session:ada", "how": "session", "tenant": "acme", "userId": "ada",
        "permissions": ["read", "write"], "site": False, "csrfToken": "",
    }  # fmt: skip
    assert client.post("/admin", headers=csrf(client)).status_code == 403


def test_a_session_ends_with_its_time(engine: Tenure, open_api: Open) -> None:
    clock = ManualClock()
    client = open_api(clock=clock)
    secret = Tickets(engine, LOGIN_LINKS, clock).issue(ADA, 600)
    assert client.get(f"/login?token={secret}").status_code == 303
    assert client.get("/read").status_code == 200

    clock.advance(seconds=IdentitySettings().session_seconds + 1)

    assert client.get("/read").status_code == 401


def test_a_change_needs_the_token_of_the_session(engine: Tenure, client: httpx.Client) -> None:
    sign_in(engine, client)
    right = csrf(client)
    wrong = {"x-csrf-token": "0" * 64}

    assert client.post("/write").status_code == 403
    assert client.post("/write").json()["code"] == "csrf_refused"
    assert client.post("/write", headers=wrong).status_code == 403
    assert client.post("/write", params=right).status_code == 403
    assert client.post("/write", headers=right).status_code == 200


def test_the_token_of_another_session_is_refused(engine: Tenure, client: httpx.Client) -> None:
    sign_in(engine, client)
    other = csrf(client)
    client.cookies.clear()
    sign_in(engine, client)

    assert client.post("/write", headers=other).status_code == 403


@pytest.mark.parametrize(
    "foreign",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:1"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_a_page_of_another_site_changes_nothing(
    engine: Tenure, client: httpx.Client, foreign: dict[str, str]
) -> None:
    sign_in(engine, client)

    answer = client.post("/write", headers={**csrf(client), **foreign})

    assert answer.status_code == 403
    assert answer.json()["code"] == "csrf_refused"


def test_our_own_page_may(engine: Tenure, client: httpx.Client) -> None:
    sign_in(engine, client)
    own = {"origin": str(client.base_url).rstrip("/"), "sec-fetch-site": "same-origin"}

    assert client.post("/write", headers={**csrf(client), **own}).status_code == 200


def test_a_key_needs_no_such_token(engine: Tenure, client: httpx.Client) -> None:
    key, known = Keys(engine).create("ci", Permission.WRITE, actor="tester")
    sign_in(engine, client)

    answer = client.post("/write", headers={"authorization": f"Bearer {key}"})

    assert answer.json() == f"key:ci:{known.id}", "a header goes before the cookie"


def test_a_wrong_key_does_not_fall_back_on_the_session(
    engine: Tenure, client: httpx.Client
) -> None:
    sign_in(engine, client)

    assert client.get("/read", headers={"x-api-key": "wrong"}).status_code == 401


def test_after_logout_the_cookie_is_worth_nothing(engine: Tenure, client: httpx.Client) -> None:
    sign_in(engine, client)
    kept = dict(client.cookies)
    assert client.get("/read").status_code == 200

    assert client.post("/logout").status_code == 403
    assert client.post("/logout", headers=csrf(client)).status_code == 204

    assert client.get("/read").status_code == 401
    client.cookies.update(kept)
    assert client.get("/read").status_code == 401


def test_a_new_login_ends_the_session_before(engine: Tenure, client: httpx.Client) -> None:
    sign_in(engine, client)
    before = dict(client.cookies)
    sign_in(engine, client)
    client.cookies.update(before)

    assert client.get("/read").status_code == 401


def test_secrets_of_links_and_sessions_are_not_in_the_database(
    engine: Tenure, client: httpx.Client
) -> None:
    link = login_link(engine, str(client.base_url))
    client.get(link)
    another = login_link(engine, str(client.base_url))
    secrets = [*client.cookies.values(), another.partition("=")[2]]

    kept = str([engine.store.records.list(name) for name in (SESSIONS, LOGIN_LINKS)])

    assert len(secrets) == 2
    assert not any(secret in kept for secret in secrets)


def test_sessions_that_are_over_are_swept(engine: Tenure) -> None:
    clock = ManualClock()
    sessions = Tickets(engine, SESSIONS, clock)
    for _ in range(20):
        sessions.issue(ADA, 60)
    clock.advance(seconds=61)

    for _ in range(200):
        secret = sessions.issue(ADA, 60)
        sessions.end(secret)

    assert len(engine.store.records.list(SESSIONS)) < 20


@pytest.mark.parametrize("host", ["127.0.0.1:abc", "[::1", "", "a b"])
def test_a_strange_host_is_no_trouble(client: httpx.Client, host: str) -> None:
    assert client.get("/read", headers={"host": host}).status_code in (400, 401)
