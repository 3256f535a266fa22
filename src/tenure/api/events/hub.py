"""Where clients and the one reader of a process meet. All of it lives on the server's loop; only
the looks are made by a thread.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress

from tenure.api.events.clients import AllClient, Client, Event, JobClient, Wanted
from tenure.api.events.database_look import Looker, Seen
from tenure.api.events.hints import Hints
from tenure.api.events.recent_events import Ring
from tenure.api.kit.errors import TooManyStreams
from tenure.app import Tenure
from tenure.core.errors import StoreError

LINGER_SECONDS = 30.0
SHORTEST_PAUSE = 0.05


class Hub:
    """Starts to look when the first client comes, and stops some time after the last has left."""

    def __init__(self, engine: Tenure, *, seconds: float, most: int) -> None:
        self._engine = engine
        self._seconds = seconds
        self._most = most
        self._looker = Looker(engine)
        self._hints = Hints(engine)
        self._ring = Ring()
        self._everything: set[AllClient] = set()
        self._single: set[JobClient] = set()
        self._reading: asyncio.Task[None] | None = None
        self._bell, self._looked = asyncio.Event(), asyncio.Event()
        self._left_at = -LINGER_SECONDS
        self._closing = False

    def __len__(self) -> int:
        return len(self._everything) + len(self._single)

    def check_room(self) -> None:
        """TooManyStreams where this process serves as many as it may."""
        if len(self) >= self._most or self._closing:
            raise TooManyStreams(self._most)

    async def watch_all(self, wanted: Wanted, last_event_id: str | None) -> AllClient:
        """Every change from now on, or from behind the event that was seen last. `leave` it."""
        client = AllClient(wanted)
        self._everything.add(client)
        try:
            self._admit(client)
            await self._looked.wait()  # what happens before the first look, nobody tells
        except BaseException:
            self.leave(client)
            raise
        self._begin(client, last_event_id)
        return client

    def watch(self, client: JobClient) -> None:
        """One job. `leave` it."""
        self._single.add(client)
        self._admit(client)

    def leave(self, client: Client) -> None:
        """It is gone."""
        if isinstance(client, AllClient):
            self._everything.discard(client)
            self._left_at = time.monotonic()
        elif isinstance(client, JobClient):
            self._single.discard(client)

    def hint(self, job_id: str) -> None:
        """Something was done to it here. Any thread may say so."""
        if self._reading is not None:
            self._hints.say([job_id])

    @property
    def closing(self) -> bool:
        """The service ends: nobody should begin to wait."""
        return self._closing

    async def close(self) -> None:
        """Every stream ends, and those that open from now on."""
        self._closing = True
        self._looked.set()
        self._end_streams()
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.wait({self._reading})

    def _begin(self, client: AllClient, last_event_id: str | None) -> None:
        if last_event_id is None:
            client.greet(self._ring.mark)
        elif (missed := self._ring.behind(last_event_id)) is None:
            client.lose(self._ring.mark)
        else:
            client.greet(None)
            client.offer(missed)

    @property
    def _looks_at_all(self) -> bool:
        return bool(self._everything) or time.monotonic() - self._left_at < LINGER_SECONDS

    def _admit(self, client: Client) -> None:
        """Who comes between the check for room and here may come after the end."""
        if self._closing:
            client.close()
            return
        self._bell.set()
        if self._reading is None or self._reading.done():
            self._looked = asyncio.Event()
            self._reading = asyncio.get_running_loop().create_task(self._read())

    async def _read(self) -> None:
        """Until nobody needs it. A mistake of ours ends the streams: their clients come again."""
        self._looker, self._ring = Looker(self._engine), Ring()
        self._hints.start()
        try:
            while not self._closing and (self._looks_at_all or self._single):
                self._bell.clear()
                await self._look_once()
                await self._pause()
        except Exception:
            self._looked.set()
            self._end_streams()
            raise
        finally:
            self._hints.stop()

    async def _look_once(self) -> None:
        everything = self._looks_at_all
        if not everything and self._looked.is_set():
            self._looked.clear()
            self._ring = Ring()  # what happens now, nobody tells those who come again
        try:
            seen, events = await asyncio.to_thread(self._look, everything)
        except StoreError as error:
            self._engine.signals.emit("store.unavailable", error=error, step="events")
            return
        self._deliver(seen, events)
        if everything:
            self._looked.set()

    async def _pause(self) -> None:
        """So much at least lies between two looks, however many clients come."""
        await asyncio.sleep(min(SHORTEST_PAUSE, self._seconds))
        with suppress(TimeoutError):
            async with asyncio.timeout(max(0.0, self._seconds - SHORTEST_PAUSE)):
                await self._bell.wait()

    def _look(self, everything: bool) -> tuple[Seen, list[Event]]:
        """In a thread; encoding is part of it."""
        watched = {client.job_id for client in list(self._single)}
        hints = self._hints.take()
        seen = self._looker.look(everything=everything, hints=hints or set(), watched=watched)
        lost = everything and hints is None
        return Seen(seen.changed, seen.watched, lost), self._ring.events(seen.changed)

    def _deliver(self, seen: Seen, events: list[Event]) -> None:
        self._ring.keep(events)
        for client in self._everything:
            client.offer(events)
            if seen.lost:
                client.lose(self._ring.mark)
        for one in self._single:
            if (news := seen.watched.get(one.job_id)) is not None:
                one.offer(news)

    def _end_streams(self) -> None:
        for client in (*self._everything, *self._single):
            client.close()
