"""The demo without a terminal: it ends by itself, and what it says next really works."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.until import until

ROOT = Path(__file__).parents[2]
DEMO = [sys.executable, "-m", "examples.demo"]


def run(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*DEMO, *args], cwd=ROOT, capture_output=True, text=True, timeout=60)


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the demo puts its folder."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder


@pytest.mark.crash
def test_the_demo_recovers_the_killed_workers_jobs(temporary: Path) -> None:
    result = run("--jobs", "100")

    assert result.returncode == 0, result.stdout + result.stderr
    assert "All 100 jobs are final" in result.stdout
    killed = re.search(r"killed while it had jobs ([\d, ]+)", result.stdout)
    assert killed is not None
    for job_id in killed[1].strip().split(", "):
        assert re.search(rf"job {job_id} \(demo\.\w+\) taken up again by worker", result.stdout)


@pytest.mark.crash
def test_the_commands_that_it_names_work_on_its_file(temporary: Path) -> None:
    said = run("--jobs", "40", "--keep").stdout
    steps = [line.partition("#")[0].strip() for line in said.partition("next:")[2].splitlines()]
    url = next(step for step in steps if step.startswith("export")).partition("=")[2]
    commands = [step for step in steps if " jobs " in step or "doctor" in step]

    assert len(commands) == 5
    for command in commands:
        environment = {**os.environ, "TENURE_DATABASE_URL": url}
        done = subprocess.run(shlex.split(command), env=environment, capture_output=True, text=True)
        assert done.returncode in ((0, 1) if "doctor" in command else (0,)), done.stderr
    assert (temporary / next(temporary.iterdir()).name / "keep").exists()


@pytest.mark.crash
def test_a_demo_that_is_ended_ends_its_workers(temporary: Path) -> None:
    demo = subprocess.Popen(
        [*DEMO, "--jobs", "2000"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert demo.stdout is not None
    found = until(lambda: re.search(r"workers (\d+) and (\d+) start", demo.stdout.readline()))  # type: ignore[union-attr]

    assert found is not None
    demo.send_signal(signal.SIGTERM)
    demo.communicate(timeout=20)

    assert demo.returncode == 128 + signal.SIGTERM
    until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in found.groups()))


def test_the_folder_of_an_earlier_demo_is_removed_unless_kept(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    names = [f"tenure-demo-{gone.pid}-a", f"tenure-demo-{gone.pid}-b", f"tenure-demo-{os.getpid()}"]
    for name in names:
        (temporary / name).mkdir()
    (temporary / names[1] / "keep").touch()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))

    from examples.demo.__main__ import sweep

    sweep()

    assert sorted(path.name for path in temporary.iterdir()) == sorted(names[1:])
    shutil.rmtree(temporary)
