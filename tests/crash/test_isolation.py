"""The processes of suspects, seen by the program around their worker."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.crash.programs import ROOT

pytestmark = pytest.mark.crash


def test_nothing_is_left_of_a_worker_that_has_run_a_suspect(tmp_path: Path) -> None:
    program = subprocess.run(
        [sys.executable, "-m", "tests.crash.foreground"],
        cwd=ROOT,
        env={**os.environ, "TENURE_DATABASE_URL": f"sqlite:///{tmp_path / 'jobs.db'}"},
        capture_output=True,
        timeout=60,
        check=False,
    )

    assert (program.returncode, program.stderr) == (0, b"")
