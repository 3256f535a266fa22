"""A parent that forks worker processes and replaces dead ones at once. It never uses the store.

It forks before any thread exists and imports nothing of the app: each child does that for itself.
Children end with the parent, however it ends.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

from tenure.core.errors import TenureError
from tenure.worker.processes.parent_death import die_with_parent

YOUNG_SECONDS = 3.0
LONGEST_PAUSE = 30.0
# A start that fails may first wait for something: a hook for its server, say.
START_SECONDS = 60.0
# Beyond the first round: with the pauses between them about four seconds, whatever the number of
# processes, so that a server that restarts at the same time does not end the fleet.
EXTRA_STARTS = 4
# The exit code of a child whose function failed. Jobs that end their process choose others, and
# crashes of jobs must never end the parent.
FAILED = 70
SIGNALS = (signal.SIGINT, signal.SIGTERM)


@dataclass(slots=True)
class Child:
    """A worker process."""

    pid: int
    born: float
    number: int = 0
    told: int = 0


class StartsFailed(TenureError):
    """Every process of a supervisor failed at its start, several times in a row."""

    code = "starts_failed"

    def __init__(self, starts: int) -> None:
        super().__init__(
            f"no process could start: {starts} starts failed in a row. The errors are above; "
            "remove their cause and start again"
        )


class Supervisor:
    """Keeps `processes` children alive until it is told to stop. They are numbered from 0 on; a
    child that replaces another takes over its number.
    """

    def __init__(self, run_child: Callable[[int], int], processes: int) -> None:
        self._run_child = run_child
        self._processes = processes
        self._children: dict[int, Child] = {}
        self._stops = 0
        self._young_deaths = 0
        self._failed_starts = 0
        self._next_birth = 0.0

    def run(self) -> int:
        """0 if every child ended well after a stop; 1 otherwise.

        StartsFailed if no child can start: restarting for ever would hide that from whoever
        watches this process.
        """
        previous = {number: signal.signal(number, self._asked) for number in SIGNALS}
        worst = 0
        try:
            while self._children or not self._stops:
                self._fill()
                self._pass_on()
                worst = max(worst, self._reap())
                self._give_up_without_starts()
        finally:
            for number, handler in previous.items():
                signal.signal(number, handler)
        return worst

    def _fill(self) -> None:
        """Fork the children that are missing, more and more slowly while they die young."""
        while not self._stops and len(self._children) < self._processes:
            if time.monotonic() < self._next_birth:
                return
            taken = {child.number for child in self._children.values()}
            child = self._fork(next(number for number in count() if number not in taken))
            self._children[child.pid] = child

    def _fork(self, number: int) -> Child:
        parent = os.getpid()
        # A signal between the fork and the handlers of the child would be lost: it waits.
        signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        pid = os.fork()
        if pid:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
            return Child(pid, time.monotonic(), number)
        code = 1
        try:
            for each in SIGNALS:
                signal.signal(each, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
            os.setpgrp()  # Ctrl-C then reaches the parent alone, which passes it on once
            die_with_parent(parent)
            code = FAILED if self._run_child(number) else 0
        except SystemExit as end:
            code = FAILED if end.code else 0
        except BaseException:
            code = FAILED
            sys.excepthook(*sys.exc_info())
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)

    def _reap(self) -> int:
        """Wait a moment for a child to end; returns the exit code that counts.

        A child that was killed is replaced at once. For children that end by themselves soon after
        their start, the pause before the next one grows.
        """
        pid, status = _wait_any(0.1)
        child = self._children.pop(pid, None)
        if child is None:
            return 0
        code = os.waitstatus_to_exitcode(status)
        if self._stops:
            well = (0, -signal.SIGTERM)  # the latter if it had not begun to work
            return 0 if code in well else 1
        age = time.monotonic() - child.born
        failed = code == FAILED and age < START_SECONDS
        self._failed_starts = self._failed_starts + 1 if failed else 0
        young = failed or (age < YOUNG_SECONDS and code != -signal.SIGKILL)
        self._young_deaths = self._young_deaths + 1 if young else 0
        if self._young_deaths > self._processes:
            pause = 0.25 * 2.0 ** min(self._young_deaths - self._processes, 10)
            self._next_birth = time.monotonic() + min(pause, LONGEST_PAUSE)
        return 0

    def _give_up_without_starts(self) -> None:
        """A child that lives is a reason to go on: it works, and the others may follow."""
        if not self._children and self._failed_starts >= self._processes + EXTRA_STARTS:
            raise StartsFailed(self._failed_starts)

    def _asked(self, number: int, _: object) -> None:
        """Only counts: a signal may come while a child is forked or reaped."""
        self._stops += 1

    def _pass_on(self) -> None:
        """Pass on the first signal, and the second, which makes the children hurry; then kill."""
        for child in self._children.values():
            while child.told < self._stops:
                child.told += 1
                os.kill(child.pid, signal.SIGTERM if child.told < 3 else signal.SIGKILL)


def supervise(run_child: Callable[[int], int], processes: int) -> int:
    """Run `run_child(number)` in each of the processes; returns the exit code for the command."""
    return Supervisor(run_child, processes).run()


def _wait_any(seconds: float) -> tuple[int, int]:
    """Process id and status of a child that has ended, or (0, 0) after this time."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            time.sleep(seconds)
            return 0, 0
        if pid or time.monotonic() >= deadline:
            return pid, status
        time.sleep(0.01)
