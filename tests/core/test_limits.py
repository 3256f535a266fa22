"""Limits as values: what can be said, what is refused, how tokens come back."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure import Limit, OptionError
from tenure.core.rules.limits import Limits, behind, gate_of, kind_of

NAMES = st.text(st.characters(min_codepoint=33, max_codepoint=0xD7FF), min_size=1)


@pytest.mark.parametrize(
    ("said", "fault"),
    [
        ({}, "a limit needs `running`"),
        ({"running": 0}, "running must be a whole number from 1"),
        ({"running": 1.5}, "running must be a whole number from 1"),
        ({"running": True}, "running must be a whole number from 1"),
        ({"rate": 0}, "rate must be a number above 0"),
        ({"rate": -1}, "rate must be a number above 0"),
        ({"rate": math.inf}, "rate must be a number above 0"),
        ({"rate": "fast"}, "rate must be a number above 0"),
        ({"rate": 1e-320}, "at least one start in ten years"),
        ({"rate": 1e-320, "per": 86_400}, "at least one start in ten years"),
        ({"rate": 1, "per": 0}, "per must be a number above 0"),
        ({"rate": 1, "burst": 0}, "burst must be a whole number from 1"),
        ({"running": 1, "burst": 2}, "`burst` belongs to a `rate`"),
    ],
)
def test_a_limit_that_cannot_be_kept_is_refused(said: dict[str, Any], fault: str) -> None:
    with pytest.raises(OptionError, match=fault):
        Limit(**said)


def test_what_would_stop_everything_names_the_way_to_do_that() -> None:
    with pytest.raises(OptionError, match="to stop all jobs, pause their queue"):
        Limit(rate=0)


@pytest.mark.parametrize(
    ("limit", "bucket"),
    [
        (Limit(rate=100), 10),
        (Limit(rate=1), 1),
        (Limit(rate=50, per=60), 1),
        (Limit(rate=1, burst=7), 7),
    ],
)
def test_a_bucket_has_a_tenth_of_a_seconds_tokens_unless_it_was_said(
    limit: Limit, bucket: int
) -> None:
    assert limit.bucket == bucket


@given(
    rate=st.floats(0.01, 1_000),
    burst=st.integers(1, 100),
    pauses=st.lists(st.floats(0, 5), min_size=1, max_size=30),
)
def test_never_more_tokens_than_the_burst_and_what_came_since(
    rate: float, burst: int, pauses: list[float]
) -> None:
    limit = Limit(rate=rate, burst=burst)
    tokens, spent = float(burst), 0
    for seconds in pauses:
        tokens = limit.refilled(tokens, seconds)
        spent += int(tokens)
        tokens -= int(tokens)
    assert spent <= burst + sum(pauses) * rate + 1e-6


def test_a_clock_that_goes_back_takes_no_token_away() -> None:
    assert Limit(rate=1, burst=5).refilled(3.0, -100) == 3.0


@given(kind=NAMES, other=NAMES, key=NAMES)
def test_the_jobs_of_a_kind_and_its_keys_count_at_its_gate_and_no_others(
    kind: str, other: str, key: str
) -> None:
    inside = [kind, gate_of(kind, key)]
    assert all(kind <= name < behind(kind) for name in inside)
    assert all(kind_of(name) == kind for name in inside)
    for name in (other, gate_of(other, key)):
        assert (kind <= name < behind(kind)) is (other == kind)


@given(kind=NAMES, key=NAMES, other=NAMES)
def test_a_keys_gate_counts_that_key_alone(kind: str, key: str, other: str) -> None:
    gate = gate_of(kind, key)
    assert (gate <= gate_of(kind, other) < behind(gate)) is (key == other)


def test_a_job_passes_the_gates_that_have_a_limit() -> None:
    limits = Limits(kinds={"a": Limit(running=1)}, keys={"a": Limit(rate=1), "b": Limit(rate=2)})

    assert limits.gates("a", None) == ["a"]
    assert limits.gates("a", gate_of("a", "k")) == ["a", gate_of("a", "k")]
    assert limits.gates("b", None) == []
    assert limits.gates("b", gate_of("b", "k")) == [gate_of("b", "k")]
    assert limits.gates("c", gate_of("c", "k")) == []
    assert limits.at(gate_of("b", "k")) == Limit(rate=2)
    assert limits.at("b") is None
