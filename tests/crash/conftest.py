"""What every crash test holds: marks, programs, and an app of its own that only looks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tenure import Tenure
from tests.crash.looking import make_effects_table
from tests.crash.marks import Marks
from tests.crash.programs import Programs


@pytest.fixture
def marks(tmp_path: Path) -> Marks:
    """What the programs of this test say."""
    folder = tmp_path / "marks"
    folder.mkdir()
    return Marks(folder)


@pytest.fixture
def programs(database_url: str, marks: Marks) -> Iterator[Programs]:
    """None of them outlives the test."""
    started = Programs(database_url, marks)
    try:
        yield started
    finally:
        started.end_all()


@pytest.fixture
def app(database_url: str) -> Iterator[Tenure]:
    """An app without handlers, with a table for the effects of others."""
    make_effects_table(database_url)
    looking = Tenure(database_url)
    yield looking
    looking.close()
