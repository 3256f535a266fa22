"""Bad input is a problem document each time, and the server stays up."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

import httpx
import pytest

from tenure.api.kit import cursors
from tests.api.conftest import Serve, Served


def check_problem(answer: httpx.Response, status: int, code: str) -> dict[str, object]:
    """The shape of every problem."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    body: dict[str, object] = answer.json()
    assert body["status"] == status
    assert body["code"] == code
    assert body["type"] == f"urn:tenure:problem:{code}"
    assert body["requestId"] == answer.headers["x-request-id"]
    assert body["title"] and body["detail"]
    return body


def test_no_such_route_and_no_such_method(served: Served) -> None:
    check_problem(served.get("/nowhere"), 404, "not-found")
    wrong = served.post("/v1/health/live")
    check_problem(wrong, 405, "method-not-allowed")
    assert wrong.headers["allow"] == "GET, HEAD"
    assert served.client.put("/api/jobs").headers["allow"] == "GET, HEAD, POST"
    assert served.client.put("/api/jobs/replay").headers["allow"] == "POST"
    assert served.client.put("/api/jobs/42").headers["allow"] == "GET, HEAD"


@pytest.mark.parametrize("value", ["a b", "a\tb", "x" * 201, "caf\xe9", ""])
def test_a_correlation_id_with_odd_characters_is_refused(served: Served, value: str) -> None:
    sent = {"x-correlation-id": value.encode("latin-1")}
    answer = served.client.get("/v1/health/live", headers=sent)  # type: ignore[arg-type]

    check_problem(answer, 400, "invalid-correlation-id")
    assert answer.headers["x-correlation-id"] not in ("", value)


def test_a_correlation_id_is_answered_and_else_made(served: Served) -> None:
    given = served.get("/v1/health/live", headers={"x-correlation-id": "order-42"})
    made = served.get("/v1/health/live")

    assert given.headers["x-correlation-id"] == "order-42"
    assert made.headers["x-correlation-id"] != served.get("/").headers["x-correlation-id"]
    assert given.headers["x-content-type-options"] == "nosniff"


def test_a_body_over_the_limit_is_refused_before_it_is_sent(serve: Serve) -> None:
    served = serve(body_limit_bytes=2_000)
    head = (
        b"POST /v1/health/live HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        b"Content-Length: 1000000000\r\n\r\n"
    )

    assert b"413" in raw(served, head).split(b"\r\n")[0]
    assert served.get("/v1/health/live").status_code == 200


def test_a_chunked_body_is_counted_as_it_comes(serve: Serve) -> None:
    served = serve(body_limit_bytes=2_000)

    def endless() -> Iterator[bytes]:
        for _ in range(3):
            yield b"[" + b" " * 1_000

    json = {"content-type": "application/json"}
    answer = served.client.post("/v1/health/live", content=endless(), headers=json)

    check_problem(answer, 413, "body-too-large")
    assert answer.headers["connection"] == "close"


def test_deep_nesting_is_refused_and_brackets_in_texts_are_not_counted(serve: Serve) -> None:
    served = serve(depth_limit=20)

    def post(content: str) -> httpx.Response:
        json = {"content-type": "application/json"}
        return served.client.post("/v1/health/live", content=content, headers=json)

    check_problem(post("[" * 21 + "]" * 21), 400, "nested-too-deeply")
    check_problem(post("[" * 100_000), 400, "nested-too-deeply")
    check_problem(post("[" * 20 + "]" * 20), 405, "method-not-allowed")
    check_problem(post('"' + "[" * 100 + '\\""'), 405, "method-not-allowed")
    check_problem(post("[[]," * 19 + "[" + "]" * 20), 405, "method-not-allowed")


@pytest.mark.parametrize(
    ("media", "said"), [("text/plain", "text/plain"), ("multipart/form-data", "uploads"), ("", "")]
)
def test_a_body_that_is_no_json_is_refused(served: Served, media: str, said: str) -> None:
    sent = {"content-type": media} if media else {}
    answer = served.client.post("/v1/health/live", content=b"x=1", headers=sent)

    body = check_problem(answer, 415, "unsupported-media-type")
    assert said in str(body["detail"])


@pytest.mark.parametrize(
    "content",
    [
        b"{",
        b'{"kind": "x"} x',
        b"\xff\xfe",
        b'"\xff"',
        b'{"kind": "x", "priority": ' + b"9" * 5_000 + b"}",
    ],
)
def test_broken_json_is_refused(served: Served, content: bytes) -> None:
    json = {"content-type": "application/json"}
    answer = served.client.post("/api/jobs", content=content, headers=json)
    check_problem(answer, 400, "broken-json")


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ([], ""),
        ({}, "/kind"),
        ({"kind": 1}, "/kind"),
        ({"kind": "x", "colour": "red"}, "/colour"),
        ({"kind": "x", "a/b~c": 1}, "/a~1b~0c"),
        ({"kind": "x", "priority": -1}, "/priority"),
        ({"kind": "x", "priority": "first"}, "/priority"),
        ({"kind": "x", "priority": "1"}, "/priority"),
        ({"kind": "x", "maxAttempts": True}, "/maxAttempts"),
        ({"kind": "x", "delaySeconds": "5"}, "/delaySeconds"),
        ({"kind": "x", "runAt": 1_900_000_000}, "/runAt"),
        ({"kind": "x", "runAt": "2030-01-01T00:00:00"}, "/runAt"),
        ({"kind": "x", "runAt": "0001-01-01T00:00:00+23:59"}, "/runAt"),
        ({"kind": "x", "expiresAt": "9999-12-31T23:59:59-23:59"}, "/expiresAt"),
        ({"kind": "x", "run_at": "2030-01-01T00:00:00Z"}, "/run_at"),
        ({"kind": "x", "after": ["1", "a/b"]}, "/after/1"),
        ({"kind": "a\x00b"}, "/kind"),
        ({"kind": " x"}, "/kind"),
        ({"kind": "x" * 151}, "/kind"),
    ],
)
def test_wrong_and_unknown_fields_are_named(served: Served, body: object, pointer: str) -> None:
    found = check_problem(served.post("/api/jobs", body), 422, "invalid-request")

    assert [(one["in"], one["pointer"]) for one in found["errors"]] == [("body", pointer)]  # type: ignore[attr-defined]
    assert served.engine.insight.counts() == {}


@pytest.mark.parametrize(
    "body",
    [
        b'{"kind": "x", "payload": NaN}',
        b'{"kind": "x", "payload": 1e999}',
        b'{"kind": "x", "payload": "\\ud800"}',
        b'{"kind": "x", "delaySeconds": 1, "runAt": "2030-01-01T00:00:00Z"}',
        b'{"kind": "x", "keyMode": "keep"}',
    ],
)
@pytest.mark.parametrize("more", [{}, {"idempotency-key": "a"}], ids=["", "once"])
def test_what_the_engine_refuses_is_422(served: Served, body: bytes, more: dict[str, str]) -> None:
    json = {"content-type": "application/json", **more}
    answer = served.client.post("/api/jobs", content=body, headers=json)

    assert answer.status_code == 422, answer.text
    assert answer.json()["code"] in ("bad-payload", "bad-option")


@pytest.mark.parametrize(
    "query",
    ["pageSize=0", "pageSize=501", "pageSize=many", "state=lost", "colour=red",
     "createdAfter=2030-01-01", "createdAfter=0001-01-01T00:00:00%2B14:00", "kind=%00",
     "batchId=a%2Fb"],
)  # fmt: skip
def test_a_list_that_cannot_be_is_refused(served: Served, query: str) -> None:
    found = check_problem(served.get(f"/api/jobs?{query}"), 422, "invalid-request")

    assert [one["in"] for one in found["errors"]] == ["query"]  # type: ignore[attr-defined]


def test_a_service_may_give_smaller_pages(serve: Serve) -> None:
    served = serve(page_limit=2)
    served.engine.enqueue_many([served.engine.new("x") for _ in range(3)])

    assert len(served.get("/api/jobs").json()["items"]) == 2
    check_problem(served.get("/api/jobs?pageSize=3"), 422, "bad-option")


def test_a_cursor_that_was_changed_is_refused(served: Served) -> None:
    served.engine.enqueue_many([served.engine.new("x") for _ in range(3)])
    cursor = served.get("/api/jobs?pageSize=1").json()["next"]
    inner, _, seal = cursor.partition(".")

    def ask(after: str, more: str = "") -> httpx.Response:
        return served.get(f"/api/jobs?pageSize=1{more}", params={"pageSize": 1, "after": after})

    assert ask(cursor).status_code == 200
    for wrong in (
        "",
        "x",
        inner,
        f"{inner}x.{seal}",
        f"WzFd.{seal}",
        f"{inner}.{seal}é",
        str(cursors.seal("\0", "{}")),
        "." * 500,
    ):
        check_problem(ask(wrong), 400, "invalid-cursor")
    other = served.get("/api/jobs", params={"kind": "x", "after": cursor})
    check_problem(other, 400, "invalid-cursor")


def test_a_mistake_of_ours_is_a_500_without_details(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[dict[str, object]] = []
    served.engine.signals.subscribe(lambda name, facts: heard.append(dict(facts)), "api.failed")

    def broken(*_: object) -> None:
        raise ZeroDivisionError("the secret of the house")

    monkeypatch.setattr(served.engine.insight, "workers", broken)
    answer = served.get("/api/workers", headers={"x-correlation-id": "order-42"})

    check_problem(answer, 500, "internal-server-error")
    assert "secret" not in answer.text
    assert [(one["path"], one["correlation_id"]) for one in heard] == [("/api/workers", "order-42")]
    assert served.get("/v1/health/live").status_code == 200


def raw(served: Served, head: bytes) -> bytes:
    """What comes back for a head whose body is never sent."""
    address = urlsplit(served.url)
    with socket.create_connection((str(address.hostname), address.port or 0), 10) as connection:
        connection.sendall(head)
        return connection.recv(4_096)
