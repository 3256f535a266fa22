"""One client each: what it has still to be sent. Bounded, however slowly it reads."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tenure.api.events.changes import JobNews, face
from tenure.api.events.frames import frame
from tenure.api.kit.shapes.jobs import light, log_line
from tenure.core.job import Job

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
    """Waits for news on the server's loop."""

    def __init__(self) -> None:
        self._bell = asyncio.Event()
        self.closed = False

    async def news(self, seconds: float) -> bool:
        """Whether something came within this time."""
        try:
            async with asyncio.timeout(seconds):
                await self._bell.wait()
        except TimeoutError:
            return False
        self._bell.clear()
        return True

    def close(self) -> None:
        """The service ends."""
        self.closed = True
        self.ring()

    def ring(self) -> None:
        """There is something."""
        self._bell.set()


class AllClient(Client):
    """Every job that it may see. Of one job only the latest change waits; of too many, none: the
    client is told to look for itself.
    """

    def __init__(self, wanted: Wanted) -> None:
        super().__init__()
        self._wanted = wanted
        self._waiting: dict[str, Event] = {}
        self._first = b""

    def greet(self, mark: str | None) -> None:
        """From here on it misses nothing; `mark` is where that is."""
        self._first = frame("ready", number=mark)
        self.ring()

    def offer(self, events: Sequence[Event]) -> None:
        """Those that it wants."""
        for event in events:
            if self._wanted(event.job):
                self._waiting.pop(event.job.id, None)
                self._waiting[event.job.id] = event
        if len(self._waiting) > MOST_WAITING:
            self.lose(events[-1].mark)
        if self._waiting:
            self.ring()

    def lose(self, mark: str) -> None:
        """It missed something that nobody has any more; from the mark on it misses nothing."""
        self._waiting, self._first = {}, frame("reset", number=mark)
        self.ring()

    def take(self) -> list[bytes]:
        """What is to be sent now; in the order of numbers, for that is the order of the dict."""
        frames = [self._first] if self._first else []
        frames += [event.frame for event in self._waiting.values()]
        self._waiting, self._first = {}, b""
        return frames


class JobClient(Client):
    """One job: its changes and its log lines. Where it stands is in the ids of its events, so that
    any process can go on from there.
    """

    def __init__(self, job_id: str, last_event_id: str | None) -> None:
        super().__init__()
        self.job_id = job_id
        self._lines, self._face = _stand(last_event_id)
        self._latest: JobNews | None = None

    def offer(self, news: JobNews) -> None:
        """The latest is all that counts."""
        self._latest = news
        if self._has_news(news):
            self.ring()

    @property
    def over(self) -> bool:
        """All of a job that has ended was sent."""
        latest = self._latest
        return latest is not None and latest.job.state.final and not self._has_news(latest)

    def take(self) -> list[bytes]:
        """What is to be sent now."""
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
    """What a client says that it has; whatever it is, it gets the rest."""
    lines, _, digest = (last_event_id or "").partition(".")
    number = int(lines) if lines.isascii() and lines.isdigit() and len(lines) < 8 else 0
    return number, digest
