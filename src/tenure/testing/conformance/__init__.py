"""The store suite: what every store must do, by subject, each promise under its number.

A store's author gives two fixtures, `store` and `tempo`, and takes the suite into a test module:

    from tenure.testing.conformance import suite

    globals().update(suite(MyJobs.capabilities))

Tests of abilities that the store lacks are skipped, and say what is missing. Not imported by the
rest of Tenure: it needs pytest.
"""

from __future__ import annotations

from collections.abc import Collection
from importlib import import_module

from tenure.core.capability import Capability
from tenure.testing.conformance.promise import Test, needed, promised, skipped

SUBJECTS = {
    "adding": ("plain_jobs", "unique_keys", "key_windows", "dependencies"),
    "claiming": (
        "claims",
        "due_times",
        "claim_ahead",
        "ordering_keys",
        "limits",
        "holds",
        "ageing",
        "placement",
    ),
    "ending": (
        "settling",
        "settle_in_transaction",
        "leases",
        "lost_leases",
        "crashes",
        "steps",
        "endings",
    ),
    "operators": ("moves", "retries", "queues", "pages", "filters", "purges"),
    "parts": ("locks", "records", "unique_names"),
}


def suite(capabilities: Collection[Capability] = frozenset(Capability)) -> dict[str, Test]:
    """Every test by name; those that need other capabilities are skipped with a reason."""
    found: dict[str, Test] = {}
    for folder, subjects in SUBJECTS.items():
        for subject in subjects:
            module = import_module(f"{__name__}.{folder}.{subject}")
            for name, test in vars(module).items():
                if not name.startswith("test_"):
                    continue
                if name in found:
                    raise RuntimeError(f"two tests of the suite are called {name}")
                missing = needed(test).difference(capabilities)
                found[name] = skipped(test, missing) if missing else test
    return found


def kept_promises() -> frozenset[int]:
    """The numbers of the promises that the suite has tests for."""
    return frozenset(number for test in suite().values() for number in promised(test))
