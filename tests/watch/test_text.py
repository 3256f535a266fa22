"""Text that may be shown: no secrets, no lines of somebody else's making."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.watch.text import clean, clip, is_secret, mask

KEY = "tenure_6cd6d2d15a31_" + "0a" * 32
TOKEN = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2lnbmVk"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("postgresql://me:hunter2@host/db is away", "postgresql://me:***@host/db is away"),
        ("amqp://u:p@ss@h/v", "amqp://u:***@h/v"),
        ("connection: password=hunter2 host=x", "connection: password=*** host=x"),
        ("{'password': 'hunter2', 'a': 1}", "{'password': ***, 'a': 1}"),
        ("API_KEY: hunter2; next", "API_KEY: ***; next"),
        ("Authorization: Bearer hunter2", "Authorization: *** ***"),
        ("sent Bearer abc.def-ghi twice", "sent Bearer *** twice"),
        (f"no {KEY} here", "no tenure_6cd6d2d15a31_*** here"),
        (f"sent {TOKEN}, refused", "sent ***, refused"),
        ("http://host:8080/path", "http://host:8080/path"),
        ("nothing to hide", "nothing to hide"),
    ],
)
def test_secrets_are_masked(text: str, shown: str) -> None:
    assert mask(text) == shown


@pytest.mark.parametrize("name", ["password", "db_password", "Api-Key", "access_token", "cookies"])
def test_secrets_are_known_by_name(name: str) -> None:
    assert is_secret(name)
    assert not is_secret("kind")


@given(st.text())
def test_clean_text_is_one_printable_line(text: str) -> None:
    assert clean(text).isprintable()
    assert len(clip(text)) <= 300


def test_printable_text_stays_as_it_is() -> None:
    assert clean("Grüße, 日本 ✓") == "Grüße, 日本 ✓"


@pytest.mark.parametrize(
    "part",
    ["a.", "token", "a://b:", "password = ", "x" * 50 + "-", "-eyJ", " eyJaaaaaaaaa.", "tenure_0a"],
)
def test_masking_a_very_long_text_comes_to_an_end(part: str) -> None:
    """A pattern that goes back and forth would not, within the time that a test has."""
    text = part * (400_000 // len(part))

    assert "hunter2" not in mask(text + " token=hunter2")
