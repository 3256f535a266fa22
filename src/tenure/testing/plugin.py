"""pytest fixtures: put `pytest_plugins = ["tenure.testing.plugin"]` into your conftest.py."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tenure.app import Tenure
from tenure.testing.clock import ManualClock
from tenure.testing.engine import on_temporary_database


@pytest.fixture
def manual_clock() -> ManualClock:
    """Time that passes when you say so."""
    return ManualClock()


@pytest.fixture
def tenure_engine(
    tmp_path: Path, manual_clock: ManualClock
) -> Iterator[Callable[[Tenure], Tenure]]:
    """`app = tenure_engine(app)`: your app on an empty database, on the manual clock."""
    with ExitStack() as stack:
        yield lambda app: stack.enter_context(on_temporary_database(app, tmp_path, manual_clock))
