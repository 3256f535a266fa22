"""The last events of this process, for clients that reconnect."""

from __future__ import annotations

import secrets
from collections import deque
from collections.abc import Iterable

from tenure.api.events.clients import Event
from tenure.api.events.frames import frame
from tenure.api.kit.shapes.jobs import light
from tenure.core.job import Job

KEPT = 2_000


class RecentEvents:
    """Numbers events under a random name, so that ids of other processes do not match."""

    def __init__(self) -> None:
        self._name = secrets.token_hex(4)
        self._events: deque[Event] = deque(maxlen=KEPT)
        self._number = 0

    @property
    def mark(self) -> str:
        """The id of the last event."""
        return f"{self._name}-{self._number}"

    def events(self, jobs: Iterable[Job]) -> list[Event]:
        """Encode the events of changed jobs; they are not kept yet."""
        return [self._event(job) for job in jobs]

    def keep(self, events: list[Event]) -> None:
        """Keep events that are sent now."""
        self._events.extend(events)

    def behind(self, last_event_id: str) -> list[Event] | None:
        """All events after this id; None if they are no longer kept."""
        name, _, digits = last_event_id.rpartition("-")
        # The id comes from a client: int() of a very long text would be slow.
        plain = digits.isascii() and digits.isdigit() and len(digits) < 16
        if name != self._name or not plain or not self._oldest - 1 <= int(digits) <= self._number:
            return None
        return [event for event in self._events if event.number > int(digits)]

    @property
    def _oldest(self) -> int:
        return self._events[0].number if self._events else self._number + 1

    def _event(self, job: Job) -> Event:
        self._number += 1
        return Event(self._number, self.mark, job, frame("job", light(job), self.mark))
