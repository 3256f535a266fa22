"""What each client still has to be sent. Bounded, however slowly it reads."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tenure.api.events.changes import JobNews, face
from tenure.api.events.frames import frame
from tenure.api.kit.shapes.jobs import light, log_line
from tenure.core.job import Job

# A client that is so far behind reads its lists faster than this many events.
MOST_WAITING = 2_000
Wanted = Callable[[Job], bool]


@dataclass(frozen=True, slots=True)
class Event:
    """A change of one job, numbered within this process, encoded once for all clients."""

    number: int
    mark: str
    job: Job
    frame: bytes


class Client:
    """A stream's end in the server. Used on the server's loop."""

    def __init__(self) -> None:
        self._bell = asyncio.Event()
        self.closed = False

    async def news(self, seconds: float) -> bool:
        """Wait for something to send; False if nothing came in time."""
        try:
            async with asyncio.timeout(seconds):
                await self._bell.wait()
        except TimeoutError:
            return False
        self._bell.clear()
        return True

    def close(self) -> None:
        """End the stream: the service shuts down."""
        self.closed = True
        self.ring()

    def ring(self) -> None:
        """Wake the stream: there is something to send."""
        self._bell.set()


class AllClient(Client):
    """A client that watches all jobs it may see. Only the latest change of a job is kept. If too
    many jobs change, none is kept: the client is told to read its lists again.
    """

    def __init__(self, wanted: Wanted) -> None:
        super().__init__()
        self._wanted = wanted
        self._waiting: dict[str, Event] = {}
        self._first = b""

    def greet(self, mark: str | None) -> None:
        """Tell the client that it gets every change after `mark`."""
        self._first = frame("ready", number=mark)
        self.ring()

    def offer(self, events: Sequence[Event]) -> None:
        """Take those that the client wants."""
        for event in events:
            if self._wanted(event.job):
                # Moved to the end: frames have to leave in the order of their numbers.
                self._waiting.pop(event.job.id, None)
                self._waiting[event.job.id] = event
        if len(self._waiting) > MOST_WAITING:
            self.lose(events[-1].mark)
        if self._waiting:
            self.ring()

    def lose(self, mark: str) -> None:
        """Tell the client that events are lost, and that it gets every change after `mark`."""
        self._waiting, self._first = {}, frame("reset", number=mark)
        self.ring()

    def take(self) -> list[bytes]:
        """Frames to send now, in the order of their numbers."""
        frames = [self._first] if self._first else []
        frames += [event.frame for event in self._waiting.values()]
        self._waiting, self._first = {}, b""
        return frames


class JobClient(Client):
    """A client that watches one job: its changes and log lines. The ids of its events hold its
    position, so that any process can continue the stream.
    """

    def __init__(self, job_id: str, last_event_id: str | None) -> None:
        super().__init__()
        self.job_id = job_id
        self._lines, self._face = _stand(last_event_id)
        self._latest: JobNews | None = None

    def offer(self, news: JobNews) -> None:
        """Take the state of the job; it replaces an older one."""
        self._latest = news
        if self._has_news(news):
            self.ring()

    @property
    def over(self) -> bool:
        """Whether the job has ended and everything was sent."""
        latest = self._latest
        return latest is not None and latest.job.state.final and not self._has_news(latest)

    def take(self) -> list[bytes]:
        """Frames to send now."""
        if (news := self._latest) is None:
            return []
        frames = []
        for line in news.lines[self._lines :]:
            self._lines += 1
            frames.append(frame("log", log_line(line), self._number()))
        if (now := _digest(news.job)) != self._face:
            self._face = now
            frames.append(frame("job", light(news.job), self._number()))
        return frames

    def _has_news(self, news: JobNews) -> bool:
        return len(news.lines) > self._lines or _digest(news.job) != self._face

    def _number(self) -> str:
        return f"{self._lines}.{self._face}"


def _digest(job: Job) -> str:
    return hashlib.blake2b(repr(face(job)).encode(), digest_size=8).hexdigest()


def _stand(last_event_id: str | None) -> tuple[int, str]:
    """The position in the last event id; an unknown one means the beginning."""
    lines, _, digest = (last_event_id or "").partition(".")
    number = int(lines) if lines.isascii() and lines.isdigit() and len(lines) < 8 else 0
    return number, digest
