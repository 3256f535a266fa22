"""Wakes workers after jobs were added: at once, after the commit, or inside the transaction."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from tenure.core.errors import OptionError
from tenure.core.job import NewJob
from tenure.stores.contract import Added
from tenure.stores.sql.database import Database
from tenure.stores.sql.foreign.commit_hooks import when_committed
from tenure.stores.sql.transaction import Transaction
from tenure.wakeups.due_jobs import Due, Wakeups, due_queues


class Announcer:
    """For the jobs that one process adds."""

    def __init__(self, database: Database, wakeups: Wakeups) -> None:
        self._database = database
        self._wakeups = wakeups

    def after_commit(self, jobs: Sequence[NewJob], added: Sequence[Added], tx: Any) -> None:
        """Wake workers now if there is no transaction, else after its commit if we can know it."""
        if not (queues := self._due(jobs)):
            return
        due = Due(queues, added[-1].id)
        if tx is None:
            self._wakeups.tell(due)
        elif isinstance(tx, Transaction):
            tx.due = tx.due.with_more(due)
        else:
            when_committed(tx, self._wakeups, due)

    def statement_inside(self, jobs: Sequence[NewJob], notify: str | None) -> str | None:
        """The statement that wakes workers when the transaction commits; empty if no job is due,
        None if `notify` does not ask for one.
        """
        if notify is None:
            return None
        if self._wakeups.inside is None:
            raise OptionError(
                "notify='transaction' needs PostgreSQL and a TENURE_WAKE_CHANNEL; without it "
                "workers find the job at their next poll"
            )
        queues = self._due(jobs)
        return self._wakeups.inside(queues) if queues else ""

    def _due(self, jobs: Sequence[NewJob]) -> frozenset[str]:
        clock = self._database.clock
        return due_queues(jobs, datetime.now(UTC) if clock is None else clock.now())
