"""Connections at rest: used again, few in quiet times, and never another process's."""

from __future__ import annotations

import os

import pytest

from tenure.stores.sql.idle_connections import LONG_SECONDS, MOST, IdleConnections


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def closed() -> list[object]:
    return []


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def idle(closed: list[object], clock: Clock) -> IdleConnections:
    return IdleConnections(closed.append, clock)


def test_the_last_one_used_is_used_next(idle: IdleConnections, closed: list[object]) -> None:
    assert idle.take() is None
    for name in "abc":
        idle.give_back(name)

    assert [idle.take() for _ in range(4)] == ["c", "b", "a", None]
    assert closed == []


def test_no_more_are_kept_than_may_be(idle: IdleConnections, closed: list[object]) -> None:
    for number in range(MOST + 3):
        idle.give_back(number)

    assert len(idle) == MOST
    assert closed == [MOST, MOST + 1, MOST + 2]
    idle.close()
    assert len(idle) == 0
    assert len(closed) == MOST + 3


def test_those_that_a_rush_left_behind_go_one_by_one(
    idle: IdleConnections, closed: list[object], clock: Clock
) -> None:
    for name in "abc":
        idle.give_back(name)
    for _ in range(5):
        clock.now += LONG_SECONDS * 0.6
        idle.give_back(idle.take())

    assert closed == ["a", "b"]
    assert idle.take() == "c"


def test_a_childs_are_its_own(
    idle: IdleConnections, closed: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    idle.give_back("parents")
    monkeypatch.setattr(os, "getpid", lambda: -1)

    idle.give_back("lent before the fork")
    assert closed == ["lent before the fork"]
    assert idle.take() is None
    idle.give_back("own")
    assert idle.take() == "own"
