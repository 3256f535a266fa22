"""What rollups count, in which periods, and what histograms tell. Pure.

A rollup is a number under (period, queue, kind, measure). A measure is a final state, the retries,
or one bucket of the histogram of waits or of runs.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from tenure.core.errors import OptionError
from tenure.core.job import State

MINUTE, TEN_MINUTES, HOUR = 60, 600, 3_600
KEPT = {
    MINUTE: timedelta(hours=3),
    TEN_MINUTES: timedelta(days=2),
    HOUR: timedelta(days=35),
}
"""How long the rows of each period are kept: charts of 1 h, 24 h and 7 d read some 150 of them."""

# From 1 ms in steps of one half; the last bucket holds all that took longer than about a day.
BOUNDS = tuple(0.001 * 1.5**step for step in range(46))
BUCKETS = len(BOUNDS) + 1
STATES = tuple(State)
FINAL = tuple(state for state in STATES if state.final)
CODES = {state: code for code, state in enumerate(STATES)}
RETRIES = len(STATES)
WAITS = 100
RUNS = 200
EVERYTHING = ("", "")
"""Queue and kind of the rows that count all queues and kinds together."""
OTHER_KIND = "(other)"


@dataclass(frozen=True, slots=True)
class Line:
    """A number to add to the rows of the present minute, ten minutes and hour."""

    queue: str
    kind: str
    measure: int
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """A histogram as people read it: how many, and percentiles in seconds."""

    count: int = 0
    p50: float | None = None
    p95: float | None = None
    p99: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """What happened in a period."""

    settled: Mapping[State, int] = field(default_factory=dict)
    retries: int = 0
    wait: Times = field(default_factory=Times)
    run: Times = field(default_factory=Times)


def bucket(seconds: float) -> int:
    """The bucket of a time."""
    return bisect_left(BOUNDS, seconds)


def totals(measures: Mapping[int, int]) -> Totals:
    """The sums by measure as a value."""
    return Totals(
        settled={state: measures.get(CODES[state], 0) for state in FINAL},
        retries=measures.get(RETRIES, 0),
        wait=times([measures.get(WAITS + place, 0) for place in range(BUCKETS)]),
        run=times([measures.get(RUNS + place, 0) for place in range(BUCKETS)]),
    )


def times(counts: Sequence[int]) -> Times:
    """Percentiles of a histogram."""
    count = sum(counts)
    if not count:
        return Times()
    p50, p95, p99 = (_percentile(counts, count * share) for share in (0.5, 0.95, 0.99))
    return Times(count=count, p50=p50, p95=p95, p99=p99)


def _percentile(counts: Sequence[int], rank: float) -> float:
    """Within its bucket a time is as likely as any other."""
    below = 0
    for place, here in enumerate(counts):
        if here and below + here >= rank:
            low = BOUNDS[place - 1] if place else 0.0
            high = BOUNDS[min(place, len(BOUNDS) - 1)]
            return low + (high - low) * (rank - below) / here
        below += here
    return BOUNDS[-1]


def step_for(age: timedelta, asked: int | None = None) -> int:
    """The period to read for a chart that goes back so far; OptionError if it is not kept."""
    if age <= timedelta():
        raise OptionError("a chart begins in the past")
    if asked is None:
        asked = next((step for step, kept in KEPT.items() if age <= kept), HOUR)
    if asked not in KEPT:
        raise OptionError(f"step must be one of {', '.join(map(str, KEPT))} seconds, not {asked}")
    if age > KEPT[asked]:
        hours = KEPT[asked] // timedelta(hours=1)
        raise OptionError(f"steps of {asked} s are kept for {hours} hours; begin later")
    return asked


def points(age: timedelta, step: int) -> int:
    """The number of steps that cover this time, the present one included."""
    return -(-int(age.total_seconds()) // step) + 1


def summed(found: Iterable[tuple[int, int]]) -> dict[int, int]:
    """Sums by measure."""
    sums: dict[int, int] = {}
    for measure, n in found:
        sums[measure] = sums.get(measure, 0) + n
    return sums
