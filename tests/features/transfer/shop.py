"""A shop with something of everything: each state, hold, key, step and table that there is."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from tenure import Delays, Fail, Limit, NotFound, Retry, RunningJob, Settings, Skip, State, Tenure
from tenure.core.timing.clock import Clock
from tenure.features.schedules import Schedules
from tenure.files import Files
from tenure.stores.contract.parts import Record
from tenure.stores.sql.store import SqlStore
from tenure.testing import run_until_idle
from tenure.testing.conformance.actions import claim_all

HOUR = 3600.0
WORDS = "grüße 👩‍👩‍👧 שלום 漢字 \u0000 'quoted\" \\ %s :name"
SCARCE = Limit(rate=1, per=HOUR, burst=1)


class Shop:
    """An app on a database, and what its handlers have done."""

    def __init__(self, url: str, clock: Clock | None = None) -> None:
        self.app = Tenure(url, settings=Settings(lease_seconds=30), clock=clock)
        self.done: list[str] = []
        self._handlers()

    @property
    def store(self) -> SqlStore:
        store = self.app.store
        assert isinstance(store, SqlStore)
        return store

    def _handlers(self) -> None:
        app, done = self.app, self.done

        @app.job("say", retry=Delays(0))
        def say(job: RunningJob, text: str) -> dict[str, str]:
            job.log(f"said {text[:20]}", level="warning")
            job.progress(1 / 3, "ein Drittel ⅓")
            done.append(text)
            return {"text": text}

        @app.job("end", retry=Delays(0))
        def end(job: RunningJob, how: str) -> None:
            endings: dict[str, Exception] = {
                "failed": Fail("nein ☃"),
                "dead": ValueError("no luck"),
                "skipped": Skip("nothing to do"),
                "not_found": NotFound("nobody"),
            }
            raise endings[how]

        def charge() -> dict[str, float]:
            done.append("charged")
            return {"€": 0.1 + 0.2}

        @app.job("pay", retry=Delays(0, 0))
        def pay(job: RunningJob) -> Any:
            paid = job.step("charge", charge)
            if job.attempt == 1:
                raise Retry("the receipt failed", delay=HOUR)
            done.append("paid")
            return paid

        @app.job("scarce", key_limit=SCARCE)
        def scarce(job: RunningJob, place: int) -> None:
            done.append(f"scarce {place}")

        @Schedules.of(app).every(hours=1, slot_as="slot")
        @app.job("hourly")
        def hourly(job: RunningJob, slot: datetime) -> None:
            done.append(f"hourly {slot.isoformat()}")

    def stock(self) -> None:
        """Rows in every table, and the last id purged."""
        app = self.app
        Schedules.of(app).synchronise()
        self._finished()
        self._waiting()
        self._beside()
        self._files()
        gone = app.enqueue("say", {"text": "gone"})
        with app.transaction() as tx:
            tx.execute("DELETE FROM tenure_jobs WHERE id = ?", (int(gone.id),))

    def _files(self) -> None:
        """A content with two names (whose second copy is in the trash), a reference, an upload."""
        files = Files.of(self.app)
        file, _ = (files.put(b"the same", name=name) for name in ("März.txt", "april.txt"))
        files.refer(file.id, "record", "7")
        files.uploads.begin(name="mai.txt", media_type="text/plain", length=3)

    def _finished(self) -> None:
        app = self.app
        app.enqueue("say", {"text": WORDS}, tenant="ü", owner="o", correlation_id="c 1")
        app.enqueue("say", {"text": "once a day"}, key="day", key_window=30 * HOUR)
        for how in ("failed", "dead", "skipped", "not_found"):
            app.enqueue("end", {"how": how})
        app.enqueue("pay")
        for place in range(2):
            app.enqueue("scarce", {"place": place}, limit_key="ü")
        run_until_idle(app)
        app.limits.hold("scarce", "😀", HOUR, "Für später", probes=1)
        canceled = app.enqueue("say", {"text": "never"}, delay=HOUR, expires=2 * HOUR)
        app.cancel(canceled.id)

    def _waiting(self) -> None:
        app = self.app
        app.enqueue("say", {"text": "running"}, priority=0)
        [running] = claim_all(app.store, kinds=["say"], slots=1, owner="shop:1", lease_seconds=60)
        assert running.lease.fence == 1
        app.enqueue("say", {"text": "large " + "ß" * 100_000})
        app.enqueue("say", {"text": "keyed"}, key="only", tenant="ü")
        for place in range(3):
            app.enqueue("say", {"text": f"in order {place}"}, ordering_key="invoice:42")
        first = app.enqueue("say", {"text": "first"}, priority=9)
        app.enqueue("say", {"text": "second"}, after=first, priority=0)

    def _beside(self) -> None:
        app = self.app
        app.tenants.weigh("ü", 2.5)
        app.store.queues.pause("mail", "ada")
        assert app.store.locks.acquire("leader", "shop:1", HOUR)
        app.store.records.put(Record(collection="api_keys", name="k1", data={"hash": "…"}))

    def jobs(self) -> list[Any]:
        """Every job with its history and log, as the public interface tells them."""
        app = self.app
        ids = [job.id for job in app.insight.stream()]
        return [
            (app.get(one), app.insight.history(app.get(one)), app.insight.logs(one)) for one in ids
        ]

    def beside(self) -> list[Any]:
        """The rest, as the public interface tells it."""
        app = self.app
        return [
            Schedules.of(app).list(),
            app.store.queues.list(),
            app.tenants.weights(),
            app.store.locks.list(),
            app.store.records.find("api_keys", "k1"),
        ]

    def states(self) -> set[State]:
        return {job.state for job in self.app.insight.stream()}
