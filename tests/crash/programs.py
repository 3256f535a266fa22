"""Starts programs for a test, and ends whatever is left of them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from tests.crash.marks import FOLDER, Marks
from tests.support.until import until

ROOT = Path(__file__).parents[2]
LEASE_SECONDS = 1.0
SETTINGS = {
    "TENURE_LEASE_SECONDS": str(LEASE_SECONDS),
    "TENURE_POLL_SECONDS": "0.1",
    "TENURE_QUEUE_SLOTS": "brief=1,hazard=1",
    "WORKER_SHUTDOWN_TIMEOUT_MS": "500",
}
Program = subprocess.Popen[bytes]


class Programs:
    """The programs of one test on one database."""

    def __init__(self, url: str, marks: Marks) -> None:
        self._url = url
        self._marks = marks
        self._started: list[Program] = []

    def start(self, *command: str, **settings: str) -> Program:
        """`python -m tests.crash.program …` with these settings in its environment."""
        here = {"TENURE_DATABASE_URL": self._url, FOLDER: str(self._marks.folder)}
        with (self._marks.folder / "log").open("ab") as log:
            program = subprocess.Popen(
                [sys.executable, "-m", "tests.crash.program", *command],
                cwd=ROOT,
                env={**os.environ, **SETTINGS, **here, **settings},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._started.append(program)
        return program

    def worker(self, command: str = "worker", **settings: str) -> Program:
        """A worker that has begun to work."""
        program = self.start(command, **settings)
        until(lambda: self._marks.find("worker.started", by=program.pid))
        return program

    def signal(self, pid: int, how: signal.Signals) -> bool:
        """Whether it was still there. Only to a process of ours: the id of one that is gone may be
        somebody else's by now, or that of a thread of the very server that is tested.
        """
        try:
            if os.getsid(pid) in {program.pid for program in self._started}:
                os.kill(pid, how)
                return True
        except ProcessLookupError:
            pass
        return False

    def end_all(self) -> None:
        """Also what a test left paused, and the children of what is gone already."""
        for program in self._started:
            with suppress(ProcessLookupError):
                os.killpg(program.pid, signal.SIGKILL)
        for program in self._started:
            program.wait(20)


def is_alive(pid: int) -> bool:
    """Whether it runs; one that nobody has reaped yet does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in "ZX"
