"""The processes of suspects, seen by the program around their worker."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.crash.programs import ROOT

pytestmark = pytest.mark.crash


def said_by(folder: Path, *arguments: str) -> tuple[int, bytes]:
    """How a program with a worker in it ends, and what it complains of."""
    program = subprocess.run(
        [sys.executable, "-m", "tests.crash.foreground", *arguments],
        cwd=ROOT,
        env={**os.environ, "TENURE_DATABASE_URL": f"sqlite:///{folder / 'jobs.db'}"},
        capture_output=True,
        timeout=60,
        check=False,
    )
    return program.returncode, program.stderr


def test_nothing_is_left_of_a_worker_that_has_run_a_suspect(tmp_path: Path) -> None:
    assert said_by(tmp_path) == (0, b"")


def test_a_suspect_runs_alone_where_no_process_can_be_made_any_more(tmp_path: Path) -> None:
    assert said_by(tmp_path, "bereft") == (0, b"")
