"""Histograms and the periods of charts."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tenure.core.errors import OptionError
from tenure.core.job import State
from tenure.core.rules.rollups import (
    BOUNDS,
    BUCKETS,
    HOUR,
    MINUTE,
    RETRIES,
    RUNS,
    TEN_MINUTES,
    bucket,
    points,
    step_for,
    times,
    totals,
)


@pytest.mark.parametrize("seconds", [0.0, 0.0004, 0.02, 1.0, 59.0, 3_600.0])
def test_a_percentile_is_within_a_bucket_of_the_truth(seconds: float) -> None:
    counts = [0] * BUCKETS
    counts[bucket(seconds)] = 10

    found = times(counts)

    assert found.count == 10
    assert found.p95 is not None and found.p95 <= max(BOUNDS[0], seconds * 1.5)
    assert found.p95 >= seconds / 1.5


def test_times_beyond_the_last_bucket_are_counted() -> None:
    counts = [0] * BUCKETS
    counts[bucket(10**9)] = 1

    assert times(counts).p99 == BOUNDS[-1]
    assert times([0] * BUCKETS).p50 is None


def test_totals_come_from_measures() -> None:
    found = totals({2: 5, 3: 1, RETRIES: 2, RUNS: 4})

    assert found.settled[State.SUCCEEDED] == 5
    assert found.settled[State.DEAD] == 0
    assert (found.retries, found.run.count, found.wait.count) == (2, 4, 0)


def test_the_step_follows_the_length_of_a_chart() -> None:
    hours = {1: MINUTE, 24: TEN_MINUTES, 168: HOUR}

    assert {length: step_for(timedelta(hours=length)) for length in hours} == hours
    assert points(timedelta(hours=1), MINUTE) == 61
    for age, step in ((timedelta(days=1), MINUTE), (timedelta(hours=1), 7), (-timedelta(1), None),
                      (timedelta(days=400), None)):  # fmt: skip
        with pytest.raises(OptionError):
            step_for(age, step)
