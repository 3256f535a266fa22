"""A thread that sends names to other processes: debounced, and repeated during an outage.

What it sends, and over which connection, is left to its subclasses.
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
# Pauses during an outage double from the first to the longest.
FIRST_PAUSE = 0.1
LONGEST_PAUSE = 30.0
# How long the end of a program may be delayed by names that are not sent yet.
EXIT_SECONDS = 0.5


class SenderThread:
    """Opens nothing before the first name. Forked children start anew."""

    step = "notify"
    _thread: threading.Thread | None

    def __init__(self, complaints: Complaints) -> None:
        self._complaints = complaints
        self.begin_anew()
        _senders.add(self)

    def say(self, names: list[str]) -> None:
        """Send the names, connecting first if necessary. Raises if that fails."""
        raise NotImplementedError

    def hang_up(self) -> None:
        """Close the connection, if it is open."""
        raise NotImplementedError

    def pass_on(self, names: Collection[str]) -> None:
        """Send at once; a name that was sent a moment ago waits a little."""
        if self._process != os.getpid():  # a fork: thread and connection are the parent's
            self.begin_anew()
        with self._ready:
            if self._debounce.add(names, time.monotonic()):
                self._ready.notify()
            if self._thread is None:
                self._start()

    def close(self, seconds: float = 1.0) -> None:
        """Send what is left, within this time."""
        thread = self._thread
        if self._process != os.getpid() or thread is None:
            return
        with self._ready:
            self._closing.set()
            self._ready.notify()
        thread.join(seconds)

    def begin_anew(self) -> None:
        """Start as if nothing had been sent yet."""
        self._process = os.getpid()
        self._ready = threading.Condition()
        self._closing = threading.Event()
        self._debounce = Debounce(SPACING_SECONDS)
        self._thread = None
        self.healthy = True

    def _start(self) -> None:
        thread = threading.Thread(target=self._run, name=f"tenure-{self.step}", daemon=True)
        with suppress(RuntimeError):  # the interpreter is shutting down and starts no more threads
            thread.start()
            self._thread = thread

    def _run(self) -> None:
        while names := self._next():
            self._say_until_said(names)

    def _next(self) -> list[str]:
        """Wait for the next names; empty when the thread should end."""
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
        """Repeat until it works, with growing pauses."""
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


_senders: WeakSet[SenderThread] = WeakSet()


def _before_exit() -> None:
    """Send what is left when a program that only enqueues ends."""
    for sender in list(_senders):
        sender.close(EXIT_SECONDS)


atexit.register(_before_exit)
