"""Marks a test with the promises it judges, and with the abilities a store needs to take it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import pytest

from tenure.core.capability import Capability

T = TypeVar("T", bound=Callable[..., Any])
Test = Callable[..., Any]


def promise(*numbers: int) -> Callable[[T], T]:
    """The numbers are those of `docs/store-contract.md`."""

    def mark(test: T) -> T:
        test.__dict__["promises"] = numbers
        return test

    return mark


def needs(*capabilities: Capability) -> Callable[[T], T]:
    """The test is skipped for a store that lacks one of these. A module's `NEEDS` hold for all of
    its tests.
    """

    def mark(test: T) -> T:
        test.__dict__["capabilities"] = frozenset(capabilities)
        return test

    return mark


def promised(test: Test) -> tuple[int, ...]:
    """The promises that a test judges."""
    numbers: tuple[int, ...] = getattr(test, "promises", ())
    return numbers


def needed(test: Test) -> frozenset[Capability]:
    """What a store must be able to do to take this test."""
    own: frozenset[Capability] = getattr(test, "capabilities", frozenset())
    return own | frozenset(getattr(test, "__globals__", {}).get("NEEDS", ()))


def skipped(test: Test, missing: Iterable[Capability]) -> Test:
    """In place of a test that the store cannot take: a skip whose reason names what is missing."""
    words = " and ".join(sorted(capability.words for capability in missing))

    @pytest.mark.skip(reason=f"the store does not support {words}")
    def left_out() -> None:
        raise AssertionError("a skipped test does not run")

    left_out.__name__ = left_out.__qualname__ = test.__name__
    left_out.__dict__["promises"] = promised(test)
    return left_out
