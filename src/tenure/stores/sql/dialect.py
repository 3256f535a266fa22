"""What differs between databases: queries, driver, and the meaning of errors."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from enum import Enum
from typing import Any, Protocol

from tenure.stores.sql.queries import Queries
from tenure.stores.sql.statement import Rows, Statement


class Trouble(Enum):
    """What to do about a driver's error."""

    AGAIN = "run the transaction again: it collided with another one"
    LOCKED = "another transaction keeps a lock for longer than we wait"
    UNABLE = "the server cannot do it now: nothing was written, later it may work"
    LOST = "the connection is no good any more, and what it did last is not known"
    REFUSED = "the database refuses what is in the row, and always will"
    OTHER = "anything else"


def without_code(error: BaseException) -> Trouble:
    """The meaning of Python's own errors: values that the driver cannot send, or no memory."""
    if isinstance(error, MemoryError):
        return Trouble.UNABLE
    unsendable = isinstance(error, ValueError | TypeError | OverflowError)
    return Trouble.REFUSED if unsendable else Trouble.OTHER


class MigrationStatement(Protocol):
    """One statement of a migration."""

    @property
    def sql(self) -> str:
        """The statement as the file has it."""
        ...

    @property
    def due(self) -> bool:
        """Whether nobody else has run it meanwhile."""
        ...

    def note(self) -> None:
        """Record that it was run."""
        ...


class SchemaChanges(Protocol):
    """How migrations run on a database.

    atomic: schema changes are part of a transaction, so a new schema is made in one.
    """

    atomic: bool

    def locked(self, connection: Any) -> AbstractContextManager[None]:
        """Keeps other migrators out, or lets them work together. It never waits for ever."""
        ...

    def online(self, sql: str) -> str:
        """The statement in a form that does not block others, if there is one."""
        ...

    def change(self, connection: Any, step: MigrationStatement) -> None:
        """Run one statement of a migration on a database in use, and note it.

        Both in one transaction, else so that running it again does no harm.
        """
        ...


class Dialect(Protocol):
    """One database. Only this and the `.sql` files differ.

    single_writer: while one transaction writes, nobody else can.
    fused: settle and claim go in one transaction; else they overlap on two connections.
    loose: a query is one statement, so that it needs no transaction around it.
    """

    name: str
    package: str
    single_writer: bool
    fused: bool
    loose: bool
    schema: SchemaChanges

    def connect(self) -> Any:
        """A new connection in autocommit mode, set up for our use."""
        ...

    def listen_first(self, connection: Any) -> None:
        """Raise if the server has closed the connection meanwhile. Sends nothing."""
        ...

    def begin(self, connection: Any, patience: float | None = None) -> None:
        """Start a transaction that will write. With `patience` it waits at most so many seconds for
        a lock, or the shortest time that the database can express.
        """
        ...

    def ended(self, connection: Any) -> bool:
        """Whether the last statement has ended it, as schema changes do on some databases."""
        ...

    def commit(self, connection: Any) -> None:
        """Commit."""
        ...

    def rollback(self, connection: Any) -> None:
        """Roll back."""
        ...

    def close(self, connection: Any) -> None:
        """Close it, whatever its state."""
        ...

    def execute(self, connection: Any, queries: Queries, statement: Statement) -> Rows:
        """Run one statement of ours."""
        ...

    def named(self, sql: str) -> str:
        """A caller's statement with `:name` as the driver writes named parameters."""
        ...

    def values(self, statement: Statement) -> Mapping[str, Any]:
        """The statement's values as this database takes them."""
        ...

    def trouble(self, error: BaseException) -> Trouble:
        """The meaning of a driver's error."""
        ...

    def version(self, connection: Any) -> str:
        """The server's version, for people."""
        ...

    def check(self, connection: Any) -> None:
        """Raise UnsupportedDatabase if something that is needed is missing."""
        ...

    def has_table(self, connection: Any, name: str) -> bool:
        """Whether there is a table of this name."""
        ...
