"""The schema of a database: the tables of the engine, and those of the features in use."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tenure.core.errors import CodeTooOld, MigrationsPending, StoreError
from tenure.stores.sql.database import Database
from tenure.stores.sql.migrations import Migration, Migrations, load
from tenure.stores.sql.queries import read_sql


class FeatureTablesPending(MigrationsPending):
    """The tables of a feature are older than its code, or missing."""

    def __init__(self, feature: str, have: int, need: int) -> None:
        StoreError.__init__(
            self,
            f"the tables of the feature {feature!r} are at version {have} and its code needs "
            f"{need}; run: tenure migrate",
        )


class FeatureTooOld(CodeTooOld):
    """The tables of a feature no longer serve its code."""

    def __init__(self, feature: str, code_version: int, serves: int) -> None:
        StoreError.__init__(
            self,
            f"the tables of the feature {feature!r} serve its version {serves} and newer; the one "
            f"installed here is at {code_version}: upgrade its distribution",
        )


class Schemas:
    """Iterating gives the engine's migrations, then those of each feature, in the order they run.

    With `migrate`, tables that are missing or old are brought up to date at first use. `changed` is
    called when there is one more feature to check.
    """

    def __init__(
        self,
        database: Database,
        engine: Callable[[], Migrations],
        *,
        migrate: bool,
        changed: Callable[[], None],
    ) -> None:
        self.database = database
        self._engine = engine
        self._migrate = migrate
        self._changed = changed
        self._packages: dict[str, str] = {}
        self._loaded: dict[str, Migrations] = {}
        self._right: set[str] = set()

    def __iter__(self) -> Iterator[Migrations]:
        yield self._engine()
        for feature in list(self._packages):
            if (found := self._migrations(feature)).all:
                yield found

    @property
    def packages(self) -> dict[str, str]:
        """The package of each feature that has tables."""
        return dict(self._packages)

    def add(self, feature: str, package: str) -> None:
        """A feature with tables in `package`. Reads no file and opens nothing yet."""
        if feature not in self._packages:
            self._packages[feature] = package
            self._changed()

    def require(self, feature: str, package: str, *, inside: bool) -> None:
        """Before a feature's own query: its tables are there and fit.

        A connection that was opened before the feature came has not been checked for it.
        """
        if feature in self._right:
            return
        self.add(feature, package)
        with self.database.raw_connection() as connection:
            self.check(connection, inside=inside)

    def check(self, connection: Any, *, inside: bool = False) -> None:
        """Raise where the tables do not fit this code.

        `inside` an open transaction nothing can be migrated, and the error says so.
        """
        for one in self:
            have, serves = one.status(connection)
            if have < one.latest and self._migrate and not inside:
                one.apply()
                have, serves = one.status(connection)
            if one.latest < serves:
                raise self.too_old(one, serves)
            if have < one.latest:
                raise self._pending(one, have, inside)
            one.check_order(connection)
        self._right.update(self._packages)

    def apply(self) -> list[tuple[Migrations, Migration]]:
        """Run all that is missing."""
        return [(one, migration) for one in self for migration in one.apply()]

    def _migrations(self, feature: str) -> Migrations:
        """Read at first use: a program that never opens its database reads no file."""
        if feature not in self._loaded:
            package = f"{self._packages[feature]}.{self.database.dialect.name}"
            try:
                found = load(package)
                self.database.queries.include(feature, read_sql(package))
            except ModuleNotFoundError as error:
                raise StoreError(
                    f"the feature {feature!r} has no tables for {self.database.dialect.name}: "
                    f"there is no {package}"
                ) from error
            self._loaded[feature] = Migrations(self.database, found, feature)
        return self._loaded[feature]

    @staticmethod
    def too_old(one: Migrations, serves: int) -> CodeTooOld:
        """The error for code that these tables no longer serve."""
        if one.feature:
            return FeatureTooOld(one.feature, one.latest, serves)
        return CodeTooOld(one.latest, serves)

    def _pending(self, one: Migrations, have: int, inside: bool) -> MigrationsPending:
        if one.feature:
            return FeatureTablesPending(one.feature, have, one.latest)
        return MigrationsPending(have, one.latest, inside=inside)
