"""Idempotency-Key: one effect, one answer, on every database."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from tenure import Tenure
from tenure.api.kit.idempotency import COLLECTION
from tests.api.conftest import Served
from tests.api.test_bad_input import check_problem


@pytest.fixture
def engine(database_url: str) -> Iterator[Tenure]:
    made = Tenure(database_url)
    yield made
    made.close()


def post(served: Served, key: str, payload: Any = 1, **headers: str) -> httpx.Response:
    named = {"idempotency-key": key, **headers}
    return served.post("/api/jobs", {"kind": "x", "payload": payload}, headers=named)


def count(served: Served) -> int:
    return sum(served.engine.insight.counts().values())


def test_the_same_request_again_has_the_same_answer_and_no_effect(served: Served) -> None:
    first, second = post(served, "a"), post(served, "a")

    assert (first.status_code, second.status_code) == (201, 201)
    assert first.json() == second.json()
    assert "idempotency-replayed" not in first.headers
    assert second.headers["idempotency-replayed"] == "true"
    assert count(served) == 1


def test_another_body_under_the_same_key_is_refused(served: Served) -> None:
    post(served, "a")

    check_problem(post(served, "a", payload=2), 422, "idempotency-key-reused")
    assert count(served) == 1


def test_a_key_belongs_to_its_caller(served: Served) -> None:
    other = served.key("write", tenant="globex")

    assert post(served, "a").json() != post(served, "a", payload=2, **other).json()


def test_of_two_at_once_one_is_done_and_the_other_told_to_ask_again(served: Served) -> None:
    """The first is held in its transaction until the second has looked for the key."""
    engine = served.engine
    looked, inside = threading.Event(), threading.Event()
    records, enqueue_many = engine.store.records, engine.enqueue_many
    find = records.find

    def finding(collection: str, name: str) -> Any:
        found = find(collection, name)
        if collection == COLLECTION and inside.is_set():
            looked.set()
        return found

    def adding(*args: Any, **more: Any) -> Any:
        inside.set()
        assert looked.wait(20)
        return enqueue_many(*args, **more)

    records.find = finding  # type: ignore[method-assign]
    engine.enqueue_many = adding  # type: ignore[method-assign]
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(post, served, "a")
        assert inside.wait(20)
        second = pool.submit(post, served, "a")
        answers = sorted((first.result(), second.result()), key=lambda one: one.status_code)

    assert answers[0].status_code == 201
    check_problem(answers[1], 409, "idempotency-key-in-use")
    assert answers[1].headers["retry-after"] == "1"
    assert count(served) == 1
    assert post(served, "a").json() == answers[0].json()


def test_what_failed_is_not_remembered(served: Served) -> None:
    served.post("/api/jobs", {"kind": "x", "payload": 0, "key": "k"})
    taken = {"kind": "x", "payload": 1, "key": "k"}
    refused = served.post("/api/jobs", taken, headers={"idempotency-key": "a"})

    check_problem(refused, 409, "key-conflict")
    assert post(served, "a", payload=2).status_code == 201


def test_keys_are_forgotten_after_a_day(served: Served) -> None:
    first = post(served, "a")
    service = served.api.state.service
    service.idempotency._records._life *= 0

    again = post(served, "a", payload=2)
    assert again.status_code == 201
    assert again.json() != first.json()
    for number in range(30):
        post(served, f"other-{number}")
    assert len(served.engine.store.records.list(COLLECTION)) < 31


@pytest.mark.parametrize("key", ["", "x" * 256, "a\tb"])
def test_a_key_is_a_short_plain_text(served: Served, key: str) -> None:
    body = check_problem(post(served, key), 422, "invalid-request")

    assert body["errors"][0]["in"] == "header"  # type: ignore[index]
