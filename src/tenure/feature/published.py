"""An event as a feature sees it while it is published, and what the feature may add to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from tenure.core.job import NewJob
from tenure.stores.sql.statement import Plan


class PublishedEvent(NamedTuple):
    """An event of the outbox, and whose it is."""

    id: str
    type: str
    aggregate_type: str | None
    aggregate_id: str | None
    data: Any
    tenant: str
    owner: str | None
    correlation_id: str | None


PublishHook = Callable[[PublishedEvent], Iterable[NewJob] | Plan[None] | None]
"""Called for each event before it is written. What it raises refuses the publish.

It returns jobs to add, or it is a generator of statements (`yield self.sql.statement(...)`): both
are written in the transaction of the publisher, behind the event.
"""
