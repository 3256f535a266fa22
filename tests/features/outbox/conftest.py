"""Programs on one database: each an app with an outbox, on a clock that the test turns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tenure import RunningJob, Settings, Tenure, Worker
from tenure.features.outbox import Event, Outbox
from tenure.jobs.handler import Handler
from tenure.testing.clock import ManualClock
from tests.support.databases import Databases


@dataclass
class Program:
    """An app, its outbox, and what its subscribers got."""

    app: Tenure
    outbox: Outbox
    got: list[tuple[str, Any]] = field(default_factory=list)

    def subscribe(self, type: str, subscriber: str = "default", **options: Any) -> Handler[Any]:
        """Somebody who notes what it gets, and raises what the data asks for."""

        @self.outbox.on(type, subscriber=subscriber, **options)
        def note(job: RunningJob, event: Event) -> None:
            if self.fails(subscriber, event):
                raise RuntimeError("no luck")
            self.got.append((subscriber, event.data))

        return note

    def fails(self, subscriber: str, event: Event) -> bool:
        return isinstance(event.data, dict) and event.data.get("fails") == subscriber

    def run(self) -> int:
        """Whatever is due."""
        return Worker(self.app).run_until_idle()


Make = Callable[..., Program]


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def make(databases: Databases, tmp_path: Path, clock: ManualClock) -> Iterator[Make]:
    """Programs of one fleet."""
    url, made = databases.empty(tmp_path), list[Tenure]()

    def program(**options: Any) -> Program:
        app = Tenure(url, settings=Settings(lease_seconds=30), clock=clock)
        made.append(app)
        outbox = Outbox(app, **options)
        app.include(outbox)
        return Program(app, outbox)

    yield program
    for one in made:
        one.close()


@pytest.fixture
def program(make: Make) -> Program:
    return make()
