"""Names that can be taken once within a window: unique keys without a job."""

from __future__ import annotations

from functools import partial
from typing import Any

from tenure.core.timing.clock import seconds_to_micros
from tenure.stores.sql.database import Database
from tenure.stores.sql.foreign.async_transaction import run_in_async
from tenure.stores.sql.foreign.transaction import run_in
from tenure.stores.sql.statement import Batch, Plan, Statement
from tenure.stores.sql.write.unique_keys import KEY_COLUMNS

NO_JOB = 0
NO_PAYLOAD = ""


class SqlKeys:
    """See `tenure.stores.contract.KeyStore`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def take(self, tenant: str, scope: str, name: str, seconds: float, tx: Any) -> bool:
        """In `tx`, or in a transaction of its own."""
        return run_in(self._database, tx, partial(take, (tenant, scope, name), seconds))

    async def take_async(self, tenant: str, scope: str, name: str, seconds: float, tx: Any) -> bool:
        """The same in an async foreign transaction."""
        plan = partial(take, (tenant, scope, name), seconds)
        return await run_in_async(self._database, tx, plan)


def take(key: tuple[str, str, str], seconds: float) -> Plan[bool]:
    """Take the window and bind it to no job, so that it counts as taken."""
    wanted = [(*key, NO_PAYLOAD, seconds_to_micros(seconds))]
    columns = (*KEY_COLUMNS, "payload_hash", "window")
    won = yield Statement("take_windows", batch=Batch(columns, wanted))
    if not won:
        return False
    yield Statement("bind_windows", batch=Batch((*KEY_COLUMNS, "id"), [(*key, NO_JOB)]))
    return True
