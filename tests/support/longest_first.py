"""The order of the test files. The longest come first, so that no process is left with one of them
while the others have nothing more to do.

pytest-xdist would begin with the files of the most tests. The campaigns have few, and are long.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LONGEST = (
    "tests/stores/test_conformance.py",
    "tests/crash/test_campaign.py",
    "tests/crash/test_outbox.py",
    "tests/api/test_schemathesis.py",
    "tests/stores/test_trouble.py",
    "tests/test_docs.py",
    "tests/dashboard",
    "tests/crash",
    "tests/examples",
    "tests/features/transfer/test_resume.py",
    "tests/cli/test_up.py",
    "tests/worker",
)
"""Files and folders, longest first. One that is missing here is not wrong, only later."""


def longest_first(items: Iterable[pytest.Item]) -> list[pytest.Item]:
    """Files keep their tests together and in order; those that are not named go by their size."""
    found = list(items)
    tests = Counter(item.path for item in found)
    return sorted(found, key=lambda item: (_place(item.path), -tests[item.path], str(item.path)))


def _place(path: Path) -> int:
    """Its place among the longest; behind all of them if it is not named."""
    name = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else ""
    for place, one in enumerate(LONGEST):
        if name == one or name.startswith(f"{one}/"):
            return place
    return len(LONGEST)
