"""A thread that says short things to other processes: after the commit, debounced, and again
while nobody can be reached. What it says, and over which line, its kinds know.
"""

from __future__ import annotations

import atexit
import os
import threading
import time
from collections.abc import Collection
from contextlib import suppress
from weakref import WeakSet

from tenure.core.timing.debounce import Debounce
from tenure.wakeups.due_jobs import Complaints

SPACING_SECONDS = 0.005
FIRST_PAUSE = 0.1
LONGEST_PAUSE = 30.0
EXIT_SECONDS = 0.5


class SenderThread:
    """Nothing is opened before the first word."""

    step = "notify"
    _thread: threading.Thread | None

    def __init__(self, complaints: Complaints) -> None:
        self._complaints = complaints
        self.begin_anew()
        _speakers.add(self)

    def say(self, names: list[str]) -> None:
        """Over the line, opened where it is not; raises where that fails."""
        raise NotImplementedError

    def hang_up(self) -> None:
        """Close the line, if it is open."""
        raise NotImplementedError

    def pass_on(self, names: Collection[str]) -> None:
        """At once, unless the same was said a moment ago: then a little later."""
        if self._process != os.getpid():  # a fork: thread and line are the parent's
            self.begin_anew()
        with self._ready:
            if self._debounce.add(names, time.monotonic()):
                self._ready.notify()
            if self._thread is None:
                self._start()

    def close(self, seconds: float = 1.0) -> None:
        """Say what is left to say, within this time."""
        thread = self._thread
        if self._process != os.getpid() or thread is None:
            return
        with self._ready:
            self._closing.set()
            self._ready.notify()
        thread.join(seconds)

    def begin_anew(self) -> None:
        """As if nothing had been said yet."""
        self._process = os.getpid()
        self._ready = threading.Condition()
        self._closing = threading.Event()
        self._debounce = Debounce(SPACING_SECONDS)
        self._thread = None
        self.healthy = True

    def _start(self) -> None:
        thread = threading.Thread(target=self._run, name=f"tenure-{self.step}", daemon=True)
        with suppress(RuntimeError):  # the program is ending: there are no more threads
            thread.start()
            self._thread = thread

    def _run(self) -> None:
        while names := self._next():
            self._say_until_said(names)

    def _next(self) -> list[str]:
        """What to say now; nothing at the end."""
        with self._ready:
            while True:
                closing, now = self._closing.is_set(), time.monotonic()
                names = self._debounce.take(now, all_of_them=closing)
                if not names and closing:
                    self.hang_up()
                    self._thread = None
                    self._closing.clear()
                if names or closing:
                    return names
                self._ready.wait(self._debounce.pause(now))

    def _say_until_said(self, names: list[str]) -> None:
        """Through an outage, less and less often."""
        pause = FIRST_PAUSE
        while True:
            try:
                self.say(names)
            except Exception as error:
                self.healthy = False
                self.hang_up()
                self._complaints.make(error, self.step)
            else:
                self.healthy = True
                return
            if self._closing.wait(pause):
                return
            pause = min(pause * 2, LONGEST_PAUSE)


_speakers: WeakSet[SenderThread] = WeakSet()


def _before_exit() -> None:
    """A program that enqueues and ends has not said it yet."""
    for speaker in list(_speakers):
        speaker.close(EXIT_SECONDS)


atexit.register(_before_exit)
