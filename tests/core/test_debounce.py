"""Passing names on: the first at once, then spaced, and nothing is lost."""

from __future__ import annotations

from tenure.core.timing.debounce import Debounce


def test_the_first_goes_at_once_and_a_repetition_later() -> None:
    debounce = Debounce(5)

    assert debounce.pause(100) is None
    assert debounce.add(["a"], 100)
    assert debounce.take(100) == ["a"]
    assert not debounce.add(["a", "a"], 101)
    assert debounce.take(104) == []
    assert debounce.pause(104) == 1
    assert debounce.take(105) == ["a"]
    assert not debounce.waiting


def test_a_crowd_is_answered_less_often_until_it_is_gone() -> None:
    debounce = Debounce(5)
    gone: list[float] = []
    for now in range(100, 300):
        if now < 200:
            debounce.add(["a", "a"], now)
        elif now in (250, 252):
            debounce.add(["a"], now)
        gone += [now for _ in debounce.take(now)]

    assert gone == [100, 105, 145, 185, 225, 250, 255]


def test_another_name_does_not_wait_for_it() -> None:
    debounce = Debounce(5)
    debounce.add(["a"], 100)
    debounce.take(100)

    assert debounce.add(["a", "b"], 101)
    assert debounce.take(101) == ["b"]
    assert debounce.take(101, all_of_them=True) == ["a"]


def test_names_are_forgotten_when_they_may_go_again() -> None:
    debounce = Debounce(5)
    debounce.add(["a"], 100)
    debounce.take(100)

    assert debounce.take(105) == []
    assert debounce.pause(105) is None
