"""Receives wake-ups by LISTEN, on the worker's own loop, so that no thread stands between a
notification and the claim.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from tenure.stores.postgres.dialect import DEFAULTS
from tenure.wakeups.due_jobs import Heard, heed_cancel

LISTEN = sql.SQL("LISTEN {}")
GREET = sql.SQL("""NOTIFY {}, '[""]'""")


class PostgresListener:
    """See `tenure.wakeups.due_jobs.Listener`. What a notification says is a hint and never trusted.

    `beside` are other channels, each with somebody who hears what is said there; `greets` is one on
    which we say that we have come.
    """

    def __init__(self, url: str, channel: str, is_own: Callable[[int], bool]) -> None:
        self._url = url
        self._channel = channel
        self._is_own = is_own
        self.beside: dict[str, Heard] = {}
        self.greets: str | None = None
        self.healthy = True

    async def check(self) -> None:
        """Nothing to check that the store's own connections do not find."""

    async def listen(self, heard: Heard, begun: Callable[[], None]) -> None:
        """Until cancelled; raises when the connection breaks."""
        self.healthy = False
        settings: dict[str, Any] = {**DEFAULTS, **conninfo_to_dict(self._url)}
        connection = await psycopg.AsyncConnection.connect(**settings, autocommit=True)
        try:
            for channel in self.beside:
                await connection.execute(LISTEN.format(sql.Identifier(channel)))
            if self.greets is not None:
                await connection.execute(GREET.format(sql.Identifier(self.greets)))
            await connection.execute(LISTEN.format(sql.Identifier(self._channel)))
            heed_cancel()
            self.healthy = True
            begun()
            await self._read(connection.pgconn, heard)
        except psycopg.Error:
            self.healthy = False
            raise
        finally:
            await connection.close()

    async def _read(self, connection: Any, heard: Heard) -> None:
        loop = asyncio.get_running_loop()
        broken: asyncio.Future[None] = loop.create_future()
        socket = connection.socket

        def readable() -> None:
            try:
                queues = self._pending(connection)
            except psycopg.Error as error:
                loop.remove_reader(socket)  # now: a moment later the number may be another's
                if not broken.done():
                    broken.set_exception(error)
            else:
                if queues:
                    heard(queues)

        loop.add_reader(socket, readable)
        try:
            readable()  # what came while LISTEN was answered has been read from the socket already
            await broken
        finally:
            if broken.cancelled():
                loop.remove_reader(socket)

    def _pending(self, connection: Any) -> set[str]:
        """Queues named by other processes; this process has told its own workers already."""
        connection.consume_input()
        payloads: set[bytes] = set()
        while (notice := connection.notifies()) is not None:
            if (heard := self.beside.get(notice.relname.decode())) is not None:
                heard(queues_in(notice.extra))
            elif not self._is_own(notice.be_pid):
                payloads.add(notice.extra)
        return {queue for payload in payloads for queue in queues_in(payload)}


def queues_in(payload: bytes) -> list[str]:
    """The names in a notification; none if it is not one of ours."""
    try:
        found = json.loads(payload)
    except (ValueError, RecursionError):
        return []
    if not isinstance(found, list):
        return []
    return [name for name in found if isinstance(name, str)]
