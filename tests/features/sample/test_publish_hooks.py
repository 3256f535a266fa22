"""A feature that writes rows of its own with each event, in the publisher's transaction."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from tenure import Settings, Tenure
from tenure.feature import PublishedEvent
from tenure.features.outbox import Outbox
from tests.features.sample.feature import Guestbook


class Watching(Guestbook):
    """A feature that writes a row of its own for each event."""

    def __init__(self, app: Tenure) -> None:
        super().__init__(app)
        self.publish_hooks = {"*": self.note}

    def note(self, event: PublishedEvent) -> Iterator[Any]:
        yield self.sql.statement("add_entry", name=event.id, words="was published")


def test_rows_of_a_feature_share_the_fate_of_the_event(fresh_database_url: str) -> None:
    app = Tenure(fresh_database_url, settings=Settings(auto_migrate=True))
    outbox, watching = Outbox(app), Watching(app)
    app.include(watching)

    outbox.publish(None, "a", event_id="alone")
    with pytest.raises(ZeroDivisionError), app.transaction() as tx:
        outbox.publish(tx, "a", event_id="dropped")
        raise ZeroDivisionError
    asyncio.run(outbox.publish_async(None, "a", event_id="async"))
    if "postgres" in app.url:
        asyncio.run(in_a_connection(app, outbox))

    found = {one.name for one in watching.entries()}
    kept = {"kept"} if "postgres" in app.url else set()
    assert found == {"alone", "async"} | kept
    app.close()


async def in_a_connection(app: Tenure, outbox: Outbox) -> None:
    connection = await psycopg.AsyncConnection.connect(app.url)
    await outbox.publish_async(connection, "a", event_id="kept")
    await connection.commit()
    await outbox.publish_async(connection, "a", event_id="gone")
    await connection.rollback()
    await connection.close()
