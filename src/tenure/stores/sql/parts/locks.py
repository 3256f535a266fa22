"""Named locks on a SQL database: leased rows, never open transactions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from tenure.core.timing.clock import seconds_to_micros
from tenure.stores.contract.parts import HeldLock
from tenure.stores.sql.database import Database
from tenure.stores.sql.statement import Statement, one


class SqlLocks:
    """See `tenure.stores.contract.LockStore`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def acquire(self, name: str, owner: str, seconds: float) -> HeldLock | None:
        """The lock, unless another owner holds it now."""
        values = {"name": name, "owner": owner, "lease": seconds_to_micros(seconds)}
        for (fence,) in self._database.run(partial(one, Statement("acquire_lock", values))):
            return HeldLock(name, owner, fence)
        return None

    def renew(self, lock: HeldLock, seconds: float) -> bool:
        """Whether it is still held."""
        values = {"name": lock.name, "fence": lock.fence, "lease": seconds_to_micros(seconds)}
        return bool(self._database.run(partial(one, Statement("renew_lock", values))))

    def release(self, lock: HeldLock) -> bool:
        """Give it back; False if it was lost before."""
        values = {"name": lock.name, "fence": lock.fence}
        return bool(self._database.run(partial(one, Statement("release_lock", values))))

    def list(self) -> Sequence[HeldLock]:
        """Those held now."""
        found = self._database.read(Statement("list_locks"))
        return [HeldLock(name, owner, fence) for name, owner, fence, _ in found]
