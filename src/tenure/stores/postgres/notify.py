"""Wake-ups out, by NOTIFY: after the commit, debounced, on a connection and thread of their own.

Within the enqueue's own transaction a NOTIFY would make commits wait for each other.
"""

from __future__ import annotations

import atexit
import json
import os
import threading
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from functools import lru_cache
from typing import Any
from weakref import WeakSet

import psycopg
from psycopg import sql

from tenure.core.debounce import Debounce
from tenure.stores.wake import EVERY_QUEUE, Complaints

SPACING_SECONDS = 0.005
FIRST_PAUSE = 0.1
LONGEST_PAUSE = 30.0
EXIT_SECONDS = 0.5
LONGEST_PAYLOAD = 7_900

# The setting must not outlive the statement: behind a pooler the connection is not ours alone.
SAY = sql.SQL("SET LOCAL synchronous_commit = off; NOTIFY {}, {}")


class Notifier:
    """See `tenure.stores.wake.Sender`. Nothing is opened before the first wake-up."""

    _thread: threading.Thread | None
    _connection: psycopg.Connection[Any] | None

    def __init__(
        self, connect: Callable[[], psycopg.Connection[Any]], channel: str, complaints: Complaints
    ) -> None:
        self._connect = connect
        self._channel = channel
        self._complaints = complaints
        self._begin_anew()
        _notifiers.add(self)

    def send(self, queues: Collection[str]) -> None:
        """At once, unless the same was said a moment ago: then a little later."""
        if self._process != os.getpid():  # a fork: thread and connection are the parent's
            self._begin_anew()
        with self._ready:
            if self._debounce.add(queues, time.monotonic()):
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

    def is_own(self, backend: int) -> bool:
        """Whether a notification comes from here."""
        return backend == self._backend

    def _begin_anew(self) -> None:
        self._process = os.getpid()
        self._ready = threading.Condition()
        self._closing = threading.Event()
        self._debounce = Debounce(SPACING_SECONDS)
        self._thread = None
        self._connection = None
        self._backend = 0

    def _start(self) -> None:
        thread = threading.Thread(target=self._run, name="tenure-notify", daemon=True)
        with suppress(RuntimeError):  # the program is ending: there are no more threads
            thread.start()
            self._thread = thread

    def _run(self) -> None:
        while queues := self._next():
            self._say_until_said(queues)

    def _next(self) -> list[str]:
        """What to say now; nothing at the end."""
        with self._ready:
            while True:
                closing, now = self._closing.is_set(), time.monotonic()
                queues = self._debounce.take(now, all_of_them=closing)
                if not queues and closing:
                    self._hang_up()
                    self._thread = None
                    self._closing.clear()
                if queues or closing:
                    return queues
                self._ready.wait(self._debounce.pause(now))

    def _say_until_said(self, queues: list[str]) -> None:
        """Through an outage, less and less often."""
        pause = FIRST_PAUSE
        while True:
            try:
                self._say(queues)
            except Exception as error:
                self._hang_up()
                self._complaints.make(error, "notify")
            else:
                return
            if self._closing.wait(pause):
                return
            pause = min(pause * 2, LONGEST_PAUSE)

    def _say(self, queues: list[str]) -> None:
        if self._connection is None:
            self._connection = self._connect()
            self._backend = self._connection.info.backend_pid
        # As execute() does, in half the time.
        answer = self._connection.pgconn.exec_(_command(self._channel, tuple(queues)))
        if answer.status != psycopg.pq.ExecStatus.COMMAND_OK:
            raise psycopg.OperationalError(answer.get_error_message())

    def _hang_up(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(psycopg.Error):
                connection.close()


@lru_cache(maxsize=64)
def _command(channel: str, queues: tuple[str, ...]) -> bytes:
    return SAY.format(sql.Identifier(channel), sql.Literal(payload_of(queues))).as_bytes(None)


def payload_of(queues: Collection[str]) -> str:
    """A JSON list; too many to name are every queue."""
    text = json.dumps(list(queues))
    return text if len(text) <= LONGEST_PAYLOAD else json.dumps([EVERY_QUEUE])


_notifiers: WeakSet[Notifier] = WeakSet()


def _before_exit() -> None:
    """A program that enqueues and ends has not said it yet."""
    for notifier in list(_notifiers):
        notifier.close(EXIT_SECONDS)


atexit.register(_before_exit)
