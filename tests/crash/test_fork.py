"""An app that is in use when its process forks: both sides go on, and nothing is lost."""

from __future__ import annotations

import pytest

from tenure import State, Tenure
from tests.crash.programs import Programs

pytestmark = pytest.mark.crash


def test_parent_and_child_keep_working_after_a_fork_and_lose_nothing(
    app: Tenure, programs: Programs
) -> None:
    app.close()  # on SQLite somebody else's open file would hide what is to be seen
    program = programs.start("forked")

    assert program.wait(30) == 0

    assert app.insight.counts() == {State.QUEUED: 1 + 20 + 1 + 20 + 20 + 1}
