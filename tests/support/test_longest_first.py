"""The order of the test files names files that exist."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from tests.support.longest_first import LONGEST, ROOT, longest_first


def item(path: str, name: str) -> Any:
    return SimpleNamespace(path=ROOT / path, name=name)


def test_every_name_is_a_file_or_a_folder() -> None:
    assert [one for one in LONGEST if not (ROOT / one).exists()] == []


def test_the_longest_come_first_then_those_with_the_most_tests() -> None:
    small, large = "tests/core/test_lease.py", "tests/core/test_shard.py"
    long, folder = LONGEST[1], "tests/crash/test_pause.py"
    given = [item(small, "a"), item(large, "a"), item(folder, "a"), item(long, "b"),
             item(long, "a"), item(large, "b")]  # fmt: skip

    found = [(one.path.relative_to(ROOT).as_posix(), one.name) for one in longest_first(given)]

    assert found == [(long, "b"), (long, "a"), (folder, "a"), (large, "a"), (large, "b"),
                     (small, "a")]  # fmt: skip
