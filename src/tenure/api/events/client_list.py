"""The clients of one process that have a stream open. Used on the server's loop alone."""

from __future__ import annotations

import time
from collections.abc import Sequence

from tenure.api.events.clients import AllClient, Client, Event, JobClient
from tenure.api.events.database_look import Seen

LINGER_SECONDS = 30.0
"""A client whose connection broke comes back within this time, and goes on where it was."""


class ClientList:
    """Those who watch all jobs, and those who watch one."""

    def __init__(self) -> None:
        self._everything: set[AllClient] = set()
        self._single: set[JobClient] = set()
        self._left_at = -LINGER_SECONDS

    def __len__(self) -> int:
        return len(self._everything) + len(self._single)

    def add(self, client: AllClient | JobClient) -> None:
        """It gets what is found from now on."""
        if isinstance(client, AllClient):
            self._everything.add(client)
        else:
            self._single.add(client)

    def remove(self, client: Client) -> None:
        """Its connection is closed."""
        if isinstance(client, AllClient):
            self._everything.discard(client)
            self._left_at = time.monotonic()
        elif isinstance(client, JobClient):
            self._single.discard(client)

    @property
    def wants_everything(self) -> bool:
        """Whether somebody watches all jobs, or did a moment ago and may come back."""
        return bool(self._everything) or time.monotonic() - self._left_at < LINGER_SECONDS

    @property
    def watched(self) -> set[str]:
        """The jobs that somebody watches singly."""
        # A copy first: a thread reads this while the loop adds clients.
        return {client.job_id for client in list(self._single)}

    def offer(self, seen: Seen, events: Sequence[Event], mark: str) -> None:
        """Give each client what it wants of a look."""
        for client in self._everything:
            client.offer(events)
            if seen.lost:
                client.lose(mark)
        for one in self._single:
            if (news := seen.watched.get(one.job_id)) is not None:
                one.offer(news)

    def close_all(self) -> None:
        """End every stream."""
        for client in (*self._everything, *self._single):
            client.close()
