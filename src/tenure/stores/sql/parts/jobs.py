"""JobStore on a SQL database. Each of its five parts turns calls into plans and runs them."""

from __future__ import annotations

from tenure.stores.contract import Capability
from tenure.stores.sql.parts.adding import SqlAdding
from tenure.stores.sql.parts.changing import SqlChanging
from tenure.stores.sql.parts.exchange import SqlExchange
from tenure.stores.sql.parts.reading import SqlReading


class SqlJobs(SqlAdding, SqlExchange, SqlReading, SqlChanging):
    """See `tenure.stores.contract.JobStore`."""

    capabilities = frozenset(Capability)
