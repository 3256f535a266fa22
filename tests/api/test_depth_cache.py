"""Counts of very many jobs are made seldom; of few, for everybody."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from tenure import Tenure
from tenure.api.depth_cache import DepthCache
from tenure.stores.contract.parts import Depth
from tenure.testing.clock import ManualClock
from tests.support.until import until


class Slow:
    """An engine whose jobs take so long to count."""

    def __init__(self, engine: Tenure, clock: ManualClock, seconds: float) -> None:
        self.insight = self
        self.counted = 0
        self._engine, self._clock, self._seconds = engine, clock, seconds
        self.go_on = threading.Event()
        self.go_on.set()

    def depths(self) -> Sequence[Depth]:
        self.counted += 1
        assert self.go_on.wait(20)
        self._clock.advance(seconds=self._seconds)
        return self._engine.insight.depths()


def made(engine: Tenure, seconds: float) -> tuple[DepthCache, Slow, ManualClock]:
    clock = ManualClock()
    slow = Slow(engine, clock, seconds)
    return DepthCache(slow, lambda: clock.now().timestamp()), slow, clock  # type: ignore[arg-type]


def test_few_are_counted_for_everybody(engine: Tenure) -> None:
    depths, _, _ = made(engine, 0.001)
    assert depths.now() == []
    engine.enqueue("x")

    assert [one.jobs for one in depths.now()] == [1]


@pytest.mark.parametrize(("seconds", "rest"), [(0.5, 10.0), (10.0, 60.0)])
def test_many_are_counted_a_part_of_the_time(engine: Tenure, seconds: float, rest: float) -> None:
    depths, slow, clock = made(engine, seconds)
    first = depths.now()
    engine.enqueue("x")

    clock.advance(seconds=rest - 0.01)
    assert depths.now() is first
    clock.advance(seconds=0.02)
    assert [one.jobs for one in depths.now()] == [1]
    assert slow.counted == 2


def test_nobody_waits_while_another_counts(engine: Tenure) -> None:
    depths, slow, clock = made(engine, 0.5)
    first = depths.now()
    clock.advance(seconds=11)
    slow.go_on.clear()
    with ThreadPoolExecutor(1) as pool:
        counting = pool.submit(depths.now)
        until(lambda: slow.counted == 2)
        assert depths.now() is first
        slow.go_on.set()
        assert counting.result() == first


def test_those_who_come_first_share_one_count(engine: Tenure) -> None:
    depths, slow, _ = made(engine, 0.5)
    slow.go_on.clear()
    with ThreadPoolExecutor(5) as pool:
        asked = [pool.submit(depths.now) for _ in range(5)]
        until(lambda: slow.counted == 1)
        slow.go_on.set()
        assert {id(one.result()) for one in asked} == {id(asked[0].result())}
    assert slow.counted == 1
