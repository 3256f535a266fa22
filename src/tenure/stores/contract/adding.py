"""Adding jobs to a store."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from tenure.core.job import NewJob


class Added(NamedTuple):
    """The answer to one NewJob. `created` is False if its unique key names an existing job."""

    id: str
    created: bool = True


class Adding(Protocol):
    """How jobs come in."""

    def add(
        self, jobs: Sequence[NewJob], tx: Any = None, *, notify: str | None = None
    ) -> list[Added]:
        """Add all or none (1, 5, 6). `tx` is a Transaction, or an open connection or session of
        the user's own.

        Workers are woken after the commit if the store can know of it; with `notify` by `tx`.
        """
        ...

    async def add_async(
        self, jobs: Sequence[NewJob], tx: Any = None, *, notify: str | None = None
    ) -> list[Added]:
        """The same from a coroutine. `tx` may belong to an async driver."""
        return await asyncio.to_thread(self.add, jobs, tx, notify=notify)
