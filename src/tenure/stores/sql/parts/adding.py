"""Adding jobs: alone, together with other callers' jobs, or in a transaction."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Any

from tenure.core.errors import StoreUnavailable
from tenure.core.job import NewJob
from tenure.stores.contract import Added
from tenure.stores.sql import rows
from tenure.stores.sql.database import Database
from tenure.stores.sql.foreign.async_transaction import adopt_async, run_in_async
from tenure.stores.sql.foreign.transaction import adopt, run_in
from tenure.stores.sql.parts.endings import SqlEndings
from tenure.stores.sql.parts.part import SqlPart
from tenure.stores.sql.write.add import add, add_plain
from tenure.stores.sql.write.announce import Announcer
from tenure.stores.sql.write.group_commit import GroupCommit
from tenure.stores.sql.write.group_member import Answer
from tenure.wakeups.due_jobs import Wakeups

# Two statements overlap on the server; more only make the batches smaller.
WRITERS = 2


class SqlAdding(SqlPart):
    """See `tenure.stores.contract.Adding`."""

    def __init__(self, database: Database, wakeups: Wakeups, endings: SqlEndings) -> None:
        super().__init__(database, wakeups, endings)
        self._announcer = Announcer(database, wakeups)
        writers = 1 if database.dialect.single_writer else WRITERS
        self._group_commit = GroupCommit(self._add_each, writers)

    def add(
        self, jobs: Sequence[NewJob], tx: Any = None, *, notify: str | None = None
    ) -> list[Added]:
        """All or none, then wake workers."""
        inside = self._announcer.statement_inside(jobs, notify)
        added = self._add(jobs, tx)
        if inside is None:
            self._announcer.after_commit(jobs, added, tx)
        elif inside:
            with adopt(self._database, tx) as executor:
                executor.execute(inside)
        return added

    def _add(self, jobs: Sequence[NewJob], tx: Any) -> list[Added]:
        if not jobs:
            return []
        self.lane_caches.learn(jobs)
        if tx is not None or not self._are_plain(jobs):
            return run_in(self._database, tx, partial(add, jobs, self._endings))
        if len(jobs) == 1:
            return [self._group_commit.add(jobs[0])]
        return self._database.run_loose(partial(add_plain, jobs))

    async def add_async(
        self, jobs: Sequence[NewJob], tx: Any = None, *, notify: str | None = None
    ) -> list[Added]:
        """The same from a coroutine: by itself, or in an async foreign transaction."""
        if tx is None and not (len(jobs) == 1 and self._are_plain(jobs)):
            return await asyncio.to_thread(self.add, jobs)
        inside = self._announcer.statement_inside(jobs, notify)
        self.lane_caches.learn(jobs)
        added = await self._add_async(jobs, tx)
        if inside is None:
            self._announcer.after_commit(jobs, added, tx)
        elif inside:
            async with adopt_async(self._database, tx) as executor:
                await executor.execute(inside)
        return added

    async def _add_async(self, jobs: Sequence[NewJob], tx: Any) -> list[Added]:
        if tx is None:
            return [await self._group_commit.add_async(jobs[0])]
        if not jobs:
            return []
        return await run_in_async(self._database, tx, partial(add, jobs, self._endings))

    def _are_plain(self, jobs: Sequence[NewJob]) -> bool:
        endings = self._endings
        return rows.are_plain(jobs) and not (endings.kinds and endings.concern(jobs))

    def _add_each(self, jobs: Sequence[NewJob]) -> list[Answer]:
        """Plain jobs of several callers in one statement. If it fails, each caller's job alone, so
        that one bad job does not refuse the others.
        """
        try:
            return list(self._database.run_loose(partial(add_plain, jobs)))
        except StoreUnavailable as error:
            return [type(error)(str(error)) for _ in jobs]
        except Exception as error:
            if len(jobs) == 1:
                return [error]
        return [answer for job in jobs for answer in self._add_each([job])]
