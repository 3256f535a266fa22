"""Event streams of one process: one reader looks at the database for all of its clients.

All of it lives on the server's loop; only the looks are made in a thread.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

from tenure.api.events.client_list import ClientList
from tenure.api.events.clients import AllClient, Client, Event, JobClient, Wanted
from tenure.api.events.database_look import DatabaseLook, Seen
from tenure.api.events.hints import Hints
from tenure.api.events.recent_events import RecentEvents
from tenure.api.kit.errors import TooManyStreams
from tenure.app import Tenure
from tenure.core.errors import StoreError

# New clients ring the bell; without a pause each of them would cause a look.
SHORTEST_PAUSE = 0.05


class Hub:
    """Begins to look with the first client, and stops some time after the last has left."""

    def __init__(self, engine: Tenure, *, seconds: float, most: int) -> None:
        self._engine = engine
        self._seconds = seconds
        self._most = most
        self._database = DatabaseLook(engine)
        self._hints = Hints(engine)
        self._recent = RecentEvents()
        self._clients = ClientList()
        self._reading: asyncio.Task[None] | None = None
        self._bell, self._looked = asyncio.Event(), asyncio.Event()
        self._closing = False

    def __len__(self) -> int:
        return len(self._clients)

    def check_room(self) -> None:
        """TooManyStreams if this process serves as many streams as it may."""
        if len(self) >= self._most or self._closing:
            raise TooManyStreams(self._most)

    async def watch_all(self, wanted: Wanted, last_event_id: str | None) -> AllClient:
        """Every change from now on, or since the last event seen. Call `leave` in the end."""
        client = AllClient(wanted)
        self._clients.add(client)
        try:
            self._admit(client)
            # What happens before the first look cannot be told: it is what later ones compare with.
            await self._looked.wait()
        except BaseException:
            self.leave(client)
            raise
        self._begin(client, last_event_id)
        return client

    def watch(self, client: JobClient) -> None:
        """The changes of one job. Call `leave` in the end."""
        self._clients.add(client)
        self._admit(client)

    def leave(self, client: Client) -> None:
        """Its connection is closed."""
        self._clients.remove(client)

    def hint(self, job_id: str) -> None:
        """Tell that something was done to a job here. Any thread may call this."""
        if self._reading is not None:
            self._hints.say([job_id])

    @property
    def closing(self) -> bool:
        """Whether the service shuts down: nobody should begin to wait."""
        return self._closing

    async def close(self) -> None:
        """End every stream, and those that open from now on."""
        self._closing = True
        self._looked.set()
        self._clients.close_all()
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.wait({self._reading})

    def _begin(self, client: AllClient, last_event_id: str | None) -> None:
        if last_event_id is None:
            client.greet(self._recent.mark)
        elif (missed := self._recent.behind(last_event_id)) is None:
            client.lose(self._recent.mark)
        else:
            client.greet(None)
            client.offer(missed)

    def _admit(self, client: Client) -> None:
        """Start the reader for it, unless the service was closed since the check for room."""
        if self._closing:
            client.close()
            return
        self._bell.set()
        if self._reading is None or self._reading.done():
            self._looked = asyncio.Event()
            self._reading = asyncio.get_running_loop().create_task(self._read())

    async def _read(self) -> None:
        """Look until nobody needs it. An unexpected error ends the streams; clients reconnect."""
        self._database, self._recent = DatabaseLook(self._engine), RecentEvents()
        self._hints.start()
        try:
            while not self._closing and (self._clients.wants_everything or len(self)):
                self._bell.clear()
                await self._look_once()
                await self._pause()
        except Exception:
            self._looked.set()
            self._clients.close_all()
            raise
        finally:
            self._hints.stop()

    async def _look_once(self) -> None:
        everything = self._clients.wants_everything
        if not everything and self._looked.is_set():
            self._looked.clear()
            self._recent = (
                RecentEvents()
            )  # nobody looks at everything now: what happens is not known
        try:
            seen, events = await asyncio.to_thread(self._look, everything)
        except StoreError as error:
            self._engine.signals.emit("store.unavailable", error=error, step="events")
            return
        self._recent.keep(events)
        self._clients.offer(seen, events, self._recent.mark)
        if everything:
            self._looked.set()

    async def _pause(self) -> None:
        """Wait for the next look: SHORTEST_PAUSE at least, however many clients come."""
        await asyncio.sleep(min(SHORTEST_PAUSE, self._seconds))
        with suppress(TimeoutError):
            async with asyncio.timeout(max(0.0, self._seconds - SHORTEST_PAUSE)):
                await self._bell.wait()

    def _look(self, everything: bool) -> tuple[Seen, list[Event]]:
        """Look and encode; called in a thread."""
        hints = self._hints.take()
        seen = self._database.look(
            everything=everything, hints=hints or set(), watched=self._clients.watched
        )
        lost = everything and hints is None
        return Seen(seen.changed, seen.watched, lost), self._recent.events(seen.changed)
