"""What every crash test holds: marks, programs, and an app of its own that only looks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tenure import Tenure
from tests.crash.ground import looking_at, marks_in, programs_on
from tests.crash.marks import Marks
from tests.crash.programs import Programs


@pytest.fixture
def marks(tmp_path: Path) -> Marks:
    """What the programs of this test say."""
    return marks_in(tmp_path)


@pytest.fixture
def programs(database_url: str, marks: Marks) -> Iterator[Programs]:
    """None of them outlives the test."""
    with programs_on(database_url, marks) as started:
        yield started


@pytest.fixture
def app(database_url: str) -> Iterator[Tenure]:
    """An app without handlers, with a table for the effects of others."""
    with looking_at(database_url) as looking:
        yield looking
