"""How a feature uses its own tables: named queries from its `.sql` files, in a transaction."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

from tenure.core.errors import StoreError
from tenure.stores.sql.database import Database
from tenure.stores.sql.foreign.async_transaction import run_in_async
from tenure.stores.sql.foreign.transaction import run_in
from tenure.stores.sql.schemas import Schemas
from tenure.stores.sql.statement import Batch, Plan, Rows, Statement

R = TypeVar("R")
T = TypeVar("T")


class FeatureSql:
    """`feature.sql`. A query is `-- name: x` in `<tables>/<dialect>/*.sql`, its values are `:name`.

    >>> self.sql.run("add_greeting", name="Ada")                     # doctest: +SKIP
    >>> self.sql.rows(Greeting, "list_greetings", limit=20)          # doctest: +SKIP
    """

    def __init__(self, app: Any, feature: str, package: str | None) -> None:
        self._app = app
        self._feature = feature
        self._package = package

    def run(self, query: str, *, tx: Any = None, **values: Any) -> Rows:
        """One query: alone, or in `tx`, which is `app.transaction()`, `job.settle()` or a
        connection of yours. Answers its rows.
        """
        return self.plan(lambda: self._one(query, values), tx=tx)

    def rows(
        self, shape: Callable[..., R], query: str, *, tx: Any = None, **values: Any
    ) -> list[R]:
        """The rows of a query as objects: `shape` is a NamedTuple with the columns in order."""
        return [shape(*row) for row in self.run(query, tx=tx, **values)]

    def plan(self, plan: Callable[[], Plan[T]], *, tx: Any = None) -> T:
        """Several queries in one transaction: a generator that yields `statement(...)` and is sent
        the rows. It may run again where the database asks for it, so it changes nothing else.
        """
        database = self._database(inside=tx is not None)
        return run_in(database, getattr(tx, "inner", tx), plan)

    async def plan_async(self, plan: Callable[[], Plan[T]], *, tx: Any) -> T:
        """The same in an async connection or session of yours."""
        database = await asyncio.to_thread(self._database, inside=True)
        return await run_in_async(database, getattr(tx, "inner", tx), plan)

    def statement(self, query: str, batch: Batch | None = None, **values: Any) -> Statement:
        """A query of this feature, for a plan."""
        return Statement(f"{self._feature}.{query}", values, batch)

    def _one(self, query: str, values: dict[str, Any]) -> Plan[Rows]:
        return (yield self.statement(query, **values))

    def _database(self, *, inside: bool) -> Database:
        """The app's database, once it is sure that the tables are there."""
        if self._package is None:
            raise StoreError(f"the feature {self._feature!r} names no package for its tables")
        # Not by the class of the store: one that keeps jobs elsewhere may have SQL parts too.
        schemas: Schemas | None = getattr(self._app.store, "schemas", None)
        if schemas is None:
            raise StoreError(f"the feature {self._feature!r} has tables, which need a SQL database")
        schemas.require(self._feature, self._package, inside=inside)
        return schemas.database
