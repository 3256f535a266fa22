"""The feature itself."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

from pydantic_settings import BaseSettings, SettingsConfigDict

from tenure import RunningJob, Tenure, TenureError
from tenure.feature import (
    Counter,
    Facts,
    Feature,
    Finding,
    Gauge,
    Level,
    Problem,
    Screen,
    Sentence,
    Telling,
    read_settings,
)


class GuestbookSettings(BaseSettings):
    """GUESTBOOK_KEEP: how many entries stay when old ones are pruned."""

    model_config = SettingsConfigDict(env_prefix="GUESTBOOK_", extra="ignore")

    keep: int = 1_000


class EntryNotFound(TenureError):
    """There is no such entry."""

    code = "entry_not_found"


class Entry(NamedTuple):
    """A row."""

    id: int
    name: str
    words: str
    signed_at: int


class Guestbook(Feature):
    """People sign it; a job writes each entry."""

    name = "guestbook"
    app: Tenure
    tables = "tests.features.sample"
    settings_classes = (GuestbookSettings,)
    problems: Mapping[type[TenureError], Problem] = {EntryNotFound: Problem(404, exit_code=4)}
    screens = (
        Screen(
            "book",
            "Guestbook",
            Path(__file__).parent / "screens",
            module="book.js",
            reads=["/api/guestbook"],
        ),
    )

    def __init__(self, app: Tenure) -> None:
        super().__init__(app)
        self.settings = read_settings(GuestbookSettings)
        self.signed = Counter("guestbook_signed_total", "entries signed by this process")
        entries = Gauge("guestbook_entries", "entries in the book", read=self.count)
        self.metrics = (self.signed, entries)
        self.runners = (Cleaner(self),)
        self.sign = app.job("guestbook.sign")(self._sign)
        self.open = False

    def _sign(self, job: RunningJob, name: str, words: str) -> None:
        with job.settle() as tx:
            self.sql.run("add_entry", name=name, words=words, tx=tx)
        self.signed.add()
        self.app.signals.emit("guestbook.signed", guest=name)

    def entries(self, most: int = 50) -> list[Entry]:
        """Newest first."""
        return self.sql.rows(Entry, "list_entries", most=most)

    def entry(self, id: int) -> Entry:
        """One of them."""
        for found in self.sql.rows(Entry, "get_entry", id=id):
            return found
        raise EntryNotFound(f"there is no entry {id}")

    def count(self) -> int:
        """How many there are."""
        [(number,)] = self.sql.run("count_entries")
        return int(number)

    def prune(self, limit: int) -> int:
        """The oldest, down to GUESTBOOK_KEEP."""
        most = min(limit, max(0, self.count() - self.settings.keep))
        old = self.sql.rows(Entry, "oldest_entries", most=most) if most else []
        for entry in old:
            self.sql.run("remove_entry", id=entry.id)
        return len(old)

    def routers(self) -> Iterable[Any]:
        """`/api/guestbook`."""
        from tests.features.sample.api import router

        return (router,)

    def commands(self) -> Mapping[str, Any]:
        """`tenure guestbook`."""
        from tests.features.sample.cli import guestbook

        return {"guestbook": guestbook}

    def sentences(self, *, verbose: bool = False) -> Mapping[str, Telling]:
        """Who signed."""

        def signed(facts: Facts) -> Iterator[Sentence]:
            yield Sentence("info", f"{facts['guest']} signed the guestbook")

        return {"guestbook.signed": signed}

    def checks(self) -> Iterable[Finding]:
        """An empty book is worth a look."""
        count = self.count()
        level = Level.OK if count else Level.WARNING
        yield Finding(level, "guestbook", f"{count} entries", "" if count else "invite somebody")

    def lifespan(self, worker: Any) -> AbstractAsyncContextManager[Any]:
        """Open while a worker runs."""
        return self._opened()

    @asynccontextmanager
    async def _opened(self) -> AsyncIterator[None]:
        self.open = True
        try:
            yield
        finally:
            self.open = False


class Cleaner:
    """The runner `guestbook`: counts its turns."""

    name = "guestbook"

    def __init__(self, book: Guestbook) -> None:
        self.book = book
        self.turns = 0

    def run(self, budget: Any) -> int:
        """Nothing but a count."""
        self.turns += 1
        return 0
