"""The store suite: what every store must do, by subject, each promise under its number.

A store's author gives two fixtures, `store` and `tempo`, and takes the suite into a test module:

    from tenure.testing.conformance import suite

    globals().update(suite())

Not imported by the rest of Tenure: it needs pytest.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from importlib import import_module
from typing import Any

from tenure.stores.contract import Capability
from tenure.testing.conformance.promise import needed, promised

SUBJECTS = (
    "add",
    "keys",
    "windows",
    "claim",
    "due",
    "recover",
    "reserve",
    "crash",
    "extend",
    "settle",
    "order",
    "ageing",
    "place",
    "after",
    "limits",
    "remember",
    "together",
    "change",
    "retry",
    "queues",
    "page",
    "filters",
    "purge",
    "locks",
    "records",
    "once",
)
Test = Callable[..., Any]


def suite(capabilities: Collection[Capability] = frozenset(Capability)) -> dict[str, Test]:
    """Every test that a store with these capabilities must pass, by name."""
    found: dict[str, Test] = {}
    for subject in SUBJECTS:
        for name, test in vars(import_module(f"{__name__}.{subject}")).items():
            if name.startswith("test_") and needed(test) <= frozenset(capabilities):
                if name in found:
                    raise RuntimeError(f"two tests of the suite are called {name}")
                found[name] = test
    return found


def kept_promises() -> frozenset[int]:
    """The numbers of the promises that the suite has tests for."""
    return frozenset(number for test in suite().values() for number in promised(test))
