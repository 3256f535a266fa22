"""Search words as filters."""

from __future__ import annotations

import pytest

from tenure.core.errors import OptionError
from tenure.core.filter import JobFilter, PayloadPath
from tenure.core.job import State
from tenure.core.rules.error_groups import group_of, normalised, parsed, shown
from tenure.core.search import both, search


def test_words_become_conditions() -> None:
    found = search('kind:a kind:b state:bad error:"two words" payload.a.0:x key:k')

    assert found == JobFilter(
        kinds=("a", "b"),
        states=(State.FAILED, State.DEAD),
        error="two words",
        payload=(PayloadPath("a.0", "x"),),
        any_key="k",
    )
    assert found.payload is not None and found.payload[0].json_path == '$."a"[0]'


def test_quotes_keep_spaces_colons_and_quotes() -> None:
    assert search(r'error:"a \"b\" c:d"').error == 'a "b" c:d'
    assert search('"a:b"').any_key == "a:b"


@pytest.mark.parametrize(
    "text",
    ["color:red", "kind:", "state:odd", 'error:"open', "tenant:a tenant:b", "payload.:x",
     "payload.a..b:x", "payload.a:1 payload.b:1 payload.c:1 payload.d:1", "x" * 1_001],
)  # fmt: skip
def test_what_means_nothing_is_named(text: str) -> None:
    with pytest.raises(OptionError):
        search(text)


def test_two_filters_hold_together() -> None:
    one, other = JobFilter(kinds=("a", "b"), tenant="t"), JobFilter(kinds=("b", "c"), key="k")

    assert both(one, other) == JobFilter(kinds=("b",), tenant="t", key="k")
    assert both(one, JobFilter(tenant="u")) is None
    assert both(one, JobFilter(kinds=("c",))) is None


@pytest.mark.parametrize(
    ("message", "group"),
    [
        ("order 17 of 'acme' not found", "order <n> of <…> not found"),
        ('cannot open "/tmp/x": No such file', "cannot open <…>: No such file"),
        ("timeout after 30.5 s at https://a.b/c?d=1", "timeout after <n> s at <url>"),
        ("user 6f1c9ad0-2b7e-4c55-9c1f-0a77b2e4d310 gone", "user <id> gone"),
        ("object at 0x7f3ab2 of ada@example.org", "object at <id> of <email>"),
        ("line one\n  line two", "line one line two"),
        ("deadline exceeded", "deadline exceeded"),
    ],
)
def test_what_differs_is_left_out_of_a_message(message: str, group: str) -> None:
    assert normalised(message) == group


def test_a_group_has_an_id_that_every_database_can_keep() -> None:
    number = group_of("ValueError", "no 17")

    assert number == group_of("ValueError", "no 18") != group_of("KeyError", "no 17")
    assert 0 <= number < 2**63
    assert parsed(shown(number)) == number
    assert parsed("nothing") is None
