"""An app on an empty SQLite file; the engine's rules do not depend on the database."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tenure import Settings, Tenure


@pytest.fixture
def app(tmp_path: Path) -> Iterator[Tenure]:
    made = Tenure(f"sqlite:///{tmp_path / 'jobs.db'}", settings=Settings(lease_seconds=30))
    yield made
    made.close()
