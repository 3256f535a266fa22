"""A parent that forks workers and replaces dead ones at once. It never touches the store.

It forks before any thread exists and imports nothing of the app: each child does that for itself.
Children die with the parent, however it dies.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

from tenure.worker.processes.parent_death import die_with_parent

YOUNG_SECONDS = 3.0
LONGEST_PAUSE = 30.0
SIGNALS = (signal.SIGINT, signal.SIGTERM)


@dataclass(slots=True)
class Child:
    """A worker process."""

    pid: int
    born: float
    place: int = 0
    told: int = 0


class Supervisor:
    """Keeps `processes` children alive until it is told to stop. Each has a place, from 0 on, which
    whoever replaces it takes over.
    """

    def __init__(self, run_child: Callable[[int], int], processes: int) -> None:
        self._run_child = run_child
        self._processes = processes
        self._children: dict[int, Child] = {}
        self._stops = 0
        self._young_deaths = 0
        self._next_birth = 0.0

    def run(self) -> int:
        """0 when every child ended well after a stop; 1 otherwise."""
        previous = {number: signal.signal(number, self._asked) for number in SIGNALS}
        worst = 0
        try:
            while self._children or not self._stops:
                self._fill()
                self._pass_on()
                worst = max(worst, self._reap())
        finally:
            for number, handler in previous.items():
                signal.signal(number, handler)
        return worst

    def _fill(self) -> None:
        """As many children as wanted; slower and slower while they die young."""
        while not self._stops and len(self._children) < self._processes:
            if time.monotonic() < self._next_birth:
                return
            taken = {child.place for child in self._children.values()}
            child = self._fork(next(place for place in count() if place not in taken))
            self._children[child.pid] = child

    def _fork(self, place: int) -> Child:
        parent = os.getpid()
        signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)  # none is lost on the way
        pid = os.fork()
        if pid:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
            return Child(pid, time.monotonic(), place)
        code = 1
        try:
            for number in SIGNALS:
                signal.signal(number, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
            os.setpgrp()  # Ctrl-C reaches the parent alone, which passes it on once
            die_with_parent(parent)
            code = self._run_child(place)
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
        except BaseException:
            sys.excepthook(*sys.exc_info())
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)

    def _reap(self) -> int:
        """Wait a moment for a death; answers the exit code that counts.

        One that somebody killed is replaced at once; those that end by themselves soon after their
        birth are given more and more time.
        """
        pid, status = _wait_any(0.1)
        child = self._children.pop(pid, None)
        if child is None:
            return 0
        code = os.waitstatus_to_exitcode(status)
        if self._stops:
            well = (0, -signal.SIGTERM)  # the latter before it had begun to work
            return 0 if code in well else 1
        young = time.monotonic() - child.born < YOUNG_SECONDS and code != -signal.SIGKILL
        self._young_deaths = self._young_deaths + 1 if young else 0
        if self._young_deaths > self._processes:
            pause = 0.25 * 2.0 ** min(self._young_deaths - self._processes, 10)
            self._next_birth = time.monotonic() + min(pause, LONGEST_PAUSE)
        return 0

    def _asked(self, number: int, _: object) -> None:
        """Only counts: a child may just be coming or going."""
        self._stops += 1

    def _pass_on(self) -> None:
        """The first signal is passed on; so is the second, which makes the children hurry."""
        for child in self._children.values():
            while child.told < self._stops:
                child.told += 1
                os.kill(child.pid, signal.SIGTERM if child.told < 3 else signal.SIGKILL)


def supervise(run_child: Callable[[int], int], processes: int) -> int:
    """Run `run_child(place)` in so many processes; returns the exit code for the command."""
    return Supervisor(run_child, processes).run()


def _wait_any(seconds: float) -> tuple[int, int]:
    """A child that has ended, or (0, 0) after a while."""
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
