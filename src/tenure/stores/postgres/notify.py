"""Sends wake-ups by NOTIFY: after the commit, debounced, on a connection and thread of its own.

A NOTIFY inside the enqueuing transaction makes commits wait for each other. It is only for those
who ask for it, because Tenure cannot know when they commit.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from contextlib import suppress
from functools import lru_cache
from typing import Any

import psycopg
from psycopg import sql

from tenure.wakeups.due_jobs import EVERY_QUEUE, Complaints, Due
from tenure.wakeups.sender_thread import SenderThread

LONGEST_PAYLOAD = 7_900

# The setting must not outlive the statement: behind a pooler the connection is not ours alone.
SAY = sql.SQL("SET LOCAL synchronous_commit = off; NOTIFY {}, {}")
SAY_INSIDE = sql.SQL("NOTIFY {}, {}")


class Notifier(SenderThread):
    """See `tenure.wakeups.due_jobs.Sender`."""

    _connection: psycopg.Connection[Any] | None

    def __init__(
        self, connect: Callable[[], psycopg.Connection[Any]], channel: str, complaints: Complaints
    ) -> None:
        self._connect = connect
        self._channel = channel
        super().__init__(complaints)

    def send(self, due: Due) -> None:
        """Each queue at most once in a few milliseconds."""
        self.pass_on(due.queues)

    def is_own(self, backend: int) -> bool:
        """Whether a notification comes from here."""
        return backend == self._backend

    def inside(self, queues: Collection[str]) -> str:
        """The statement for a foreign transaction."""
        return SAY_INSIDE.format(*_parts(self._channel, sorted(queues))).as_string(None)

    def begin_anew(self) -> None:
        """Start without the parent's connection."""
        super().begin_anew()
        self._connection = None
        self._backend = 0

    def say(self, names: list[str]) -> None:
        """One statement."""
        if self._connection is None:
            self._connection = self._connect()
            self._backend = self._connection.info.backend_pid
        # As execute() does, in half the time.
        answer = self._connection.pgconn.exec_(_command(self._channel, tuple(names)))
        if answer.status != psycopg.pq.ExecStatus.COMMAND_OK:
            raise psycopg.OperationalError(answer.get_error_message())

    def hang_up(self) -> None:
        """Close the connection; the next name opens another one."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(psycopg.Error):
                connection.close()


@lru_cache(maxsize=64)
def _command(channel: str, queues: tuple[str, ...]) -> bytes:
    return SAY.format(*_parts(channel, queues)).as_bytes(None)


def _parts(channel: str, queues: Collection[str]) -> tuple[sql.Composable, sql.Composable]:
    return sql.Identifier(channel), sql.Literal(payload_of(queues))


def payload_of(queues: Collection[str]) -> str:
    """A JSON list; too many names become "every queue". Drivers read % as a parameter."""
    text = json.dumps(list(queues)).replace("%", "\\u0025")
    return text if len(text) <= LONGEST_PAYLOAD else json.dumps([EVERY_QUEUE])
