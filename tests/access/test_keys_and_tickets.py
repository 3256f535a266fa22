"""Keys and tickets in each database."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from tenure import Tenure
from tenure.access import Keys, Permission
from tenure.access.links import operator
from tenure.access.tickets import LOGIN_LINKS, SESSIONS, Tickets
from tenure.core.refusals import (
    ApiKeyNotFound,
)


@pytest.fixture
def app(database_url: str) -> Iterator[Tenure]:
    made = Tenure(database_url)
    yield made
    made.close()


def test_a_key_is_found_as_it_was_made_until_it_is_revoked(app: Tenure) -> None:
    keys = Keys(app)
    text, made = keys.create(
        "ci", Permission.WRITE, actor="ada", tenant="acme", owner="bob", seconds=60
    )

    assert keys.find(text) == made
    assert list(keys.list()) == [made]
    keys.revoke(made.id, actor="ada")
    assert keys.find(text) is None
    with pytest.raises(ApiKeyNotFound):
        keys.revoke(made.id, actor="ada")
    assert [line.action for line in app.operator.audit.page().rows] == [
        "key.revoked", "key.created",
    ]  # fmt: skip


def test_a_link_is_taken_once_by_however_many(app: Tenure) -> None:
    links = Tickets(app, LOGIN_LINKS)
    secret = links.issue(operator("ada"), 60)
    start, taken = threading.Barrier(6), []

    def take() -> None:
        start.wait()
        taken.append(links.take(secret))

    threads = [threading.Thread(target=take) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [ticket.caller for ticket in taken if ticket] == [operator("ada")]


def test_collections_are_apart(app: Tenure) -> None:
    """A link is no session: who found one in a log cannot use it as a cookie."""
    secret = Tickets(app, LOGIN_LINKS).issue(operator("ada"), 60)

    assert Tickets(app, SESSIONS).find(secret) is None
    assert Tickets(app, LOGIN_LINKS).find(secret) is not None


def test_all_can_be_ended(app: Tenure) -> None:
    sessions = Tickets(app, SESSIONS)
    secrets = [sessions.issue(operator("ada"), 60) for _ in range(3)]

    assert sessions.end_all() == 3
    assert [sessions.find(secret) for secret in secrets] == [None] * 3
