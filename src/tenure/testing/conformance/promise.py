"""Marks a test with the promises it judges, and with what a store must be able to do for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from tenure.stores.contract import Capability

T = TypeVar("T", bound=Callable[..., Any])


def promise(*numbers: int) -> Callable[[T], T]:
    """The numbers are those of `docs/store-contract.md`."""

    def mark(test: T) -> T:
        test.__dict__["promises"] = numbers
        return test

    return mark


def needs(*capabilities: Capability) -> Callable[[T], T]:
    """Left out of the suite of a store that cannot do this."""

    def mark(test: T) -> T:
        test.__dict__["capabilities"] = frozenset(capabilities)
        return test

    return mark


def promised(test: Callable[..., Any]) -> tuple[int, ...]:
    """The promises that a test judges."""
    numbers: tuple[int, ...] = getattr(test, "promises", ())
    return numbers


def needed(test: Callable[..., Any]) -> frozenset[Capability]:
    """What a store must be able to do to take this test."""
    capabilities: frozenset[Capability] = getattr(test, "capabilities", frozenset())
    return capabilities
