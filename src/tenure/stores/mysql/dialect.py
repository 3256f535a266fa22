"""The PyMySQL driver for MariaDB and MySQL: READ COMMITTED, rows locked by primary key.

A query may have several statements. The first column of a SELECT is `:ids` in those after it, and
its column `moment` is `:moment`. A statement that needs ids is left out if there are none. The rows
of the last SELECT are the answer. A statement marked /*again*/ is repeated from the last row until
it finds no more. A query marked `together` asks for all rows of its batch at once, as JSON or by
UNION ALL.
"""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pymysql
from pymysql.constants import CR, SERVER_STATUS
from pymysql.cursors import Cursor

from tenure.core.errors import StoreError, UnsupportedDatabase
from tenure.stores.mysql.schema import MysqlSchema
from tenure.stores.mysql.together import select_again, select_together
from tenure.stores.mysql.trouble import trouble
from tenure.stores.sql.dialect import SchemaChanges, Trouble
from tenure.stores.sql.queries import Queries, to_pyformat
from tenure.stores.sql.statement import Batch, Row, Rows, Statement

OLDEST_MARIADB = (10, 6, 0)
OLDEST_MYSQL = (8, 0, 19)
CONNECT_SECONDS = 10.0
ROW_MARK = "/*row*/"
AGAIN_MARK = "/*again*/"
IDS = "%(ids)s"
ROWS = "%(rows)s"
MOMENT = "moment"

# The smallest usual max_allowed_packet is 16 MB, and quoting may double what is sent.
STATEMENT_BYTES = 4_000_000

LOCK_SECONDS = 20

# Long lists of ids stay lists: MariaDB would turn them into a sub-select and lock the whole table.
SETTINGS = (
    "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
    f"SET time_zone = '+00:00', innodb_lock_wait_timeout = {LOCK_SECONDS}, "
    "sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION' "
    "/*M! , in_predicate_conversion_threshold = 0 */",
)

# A server that died without a word is noticed within half a minute or so.
SOCKET_OPTIONS = (
    (socket.SOL_SOCKET, "SO_KEEPALIVE", 1),
    (socket.IPPROTO_TCP, "TCP_NODELAY", 1),
    (socket.IPPROTO_TCP, "TCP_KEEPIDLE", 20),
    (socket.IPPROTO_TCP, "TCP_KEEPINTVL", 5),
    (socket.IPPROTO_TCP, "TCP_KEEPCNT", 3),
    (socket.IPPROTO_TCP, "TCP_USER_TIMEOUT", 30_000),
)


class MysqlDialect:
    """See `tenure.stores.sql.dialect.Dialect`."""

    name = "mysql"
    package = "tenure.stores.mysql"
    single_writer = False
    fused = True
    loose = False
    options = ("ssl_ca", "ssl_cert", "ssl_key")

    def __init__(
        self, *, host: str, port: int, user: str, password: str, database: str, **options: str
    ) -> None:
        self.host, self.port, self.database = host, port, database
        self.schema: SchemaChanges = MysqlSchema(database)
        self._arguments: dict[str, Any] = {
            "host": host,
            "port": port,
            "user": user,
            "password": password,
            "database": database,
            # PyMySQL does not verify by default, even if it is given an authority.
            "ssl_verify_cert": "ssl_ca" in options or None,
            **options,
        }

    def connect(self) -> Any:
        """Autocommit: transactions begin and end where we say so."""
        try:
            connection = _connected(self._arguments, self.host, self.port)
        except OSError as error:  # named here, as handlers raise errors of that sort too
            raise pymysql.OperationalError(CR.CR_CONN_HOST_ERROR, str(error)) from error
        for setting in SETTINGS:
            _ask(connection, setting)
        return connection

    def listen_first(self, connection: Any) -> None:
        """Nothing to do: each transaction begins with a message to the server."""

    def begin(self, connection: Any, patience: float | None = None) -> None:
        """With BEGIN, because SET autocommit = 0 would begin at the first statement. Patience is in
        whole seconds here; 0 makes MariaDB fail at SKIP LOCKED (error 1180).
        """
        seconds = LOCK_SECONDS if patience is None else max(1, round(patience))
        if seconds != getattr(connection, "lock_seconds", LOCK_SECONDS):
            _ask(connection, f"SET SESSION innodb_lock_wait_timeout = {seconds:d}")
            connection.lock_seconds = seconds
        connection.begin()

    def ended(self, connection: Any) -> bool:
        """Whether a schema change has committed it."""
        return not connection.server_status & SERVER_STATUS.SERVER_STATUS_IN_TRANS

    def commit(self, connection: Any) -> None:
        """Raise if the transaction is over already: after a deadlock, or a schema change."""
        if self.ended(connection):
            raise StoreError(
                "the transaction had ended before its commit: a deadlock took it back, or a "
                "statement such as CREATE TABLE committed it"
            )
        connection.commit()

    def rollback(self, connection: Any) -> None:
        """Harmless where there is nothing to roll back."""
        connection.rollback()

    def close(self, connection: Any) -> None:
        """Close it without raising."""
        with suppress(pymysql.Error):
            connection.close()

    def execute(self, connection: Any, queries: Queries, statement: Statement) -> Rows:
        """All statements of the query, for each row or each part of the batch."""
        query = queries.get(statement.name, statement.where)
        with connection.cursor(Cursor) as cursor:
            if ROW_MARK in query.steps[0]:
                return _insert(cursor, query.steps[0], statement)
            if query.together and statement.batch is not None:
                own = list(statement.batch.each([]))
                return _run(cursor, query.steps, self.values(statement), own)
            found: Rows = []
            for values in _rounds(self, statement, query.each, found):
                found += _run(cursor, query.steps, values)
            return found

    def named(self, sql: str) -> str:
        """`%(name)s`."""
        return to_pyformat(sql)

    def values(self, statement: Statement) -> Mapping[str, Any]:
        """A batch is sent as JSON. An empty list is no valid SQL, so it becomes (NULL)."""
        values = {
            name: [None] if value == [] else value for name, value in statement.values.items()
        }
        if statement.batch is not None:
            values["rows"] = _json(statement.batch)
        return values

    def trouble(self, error: BaseException) -> Trouble:
        """By the server's or the driver's number."""
        return trouble(error)

    def version(self, connection: Any) -> str:
        """Which of the two, and its version."""
        product, found = read_version(_ask(connection, "SELECT VERSION()"))
        return f"{product} {_dotted(found)}"

    def check(self, connection: Any) -> None:
        """SKIP LOCKED and JSON_TABLE are needed."""
        check_version(_ask(connection, "SELECT VERSION()"))

    def has_table(self, connection: Any, name: str) -> bool:
        """In the database of the connection."""
        sql = (
            "SELECT count(*) FROM information_schema.tables "
            "WHERE table_schema = DATABASE() AND table_name = %s"
        )
        return bool(_ask(connection, sql, (name,)))


def _rounds(
    dialect: MysqlDialect, statement: Statement, each: bool, found: Rows
) -> Iterator[Mapping[str, Any]]:
    """The values of each execution: one, one for each row, or one for each part of the batch."""
    if statement.batch is None:
        yield dialect.values(statement)
    elif each:
        shared = dialect.values(replace(statement, batch=None))
        for own in statement.batch.each(found):
            yield {**shared, **own}
    else:
        for part in _parts(statement.batch):
            yield dialect.values(replace(statement, batch=part))


def _connected(arguments: Mapping[str, Any], host: str, port: int) -> Any:
    """Connected through a socket of our own, because PyMySQL sets no keepalive."""
    connection = pymysql.connect(
        charset="utf8mb4",
        autocommit=True,
        program_name="tenure",
        defer_connect=True,
        **arguments,
    )
    connection.connect(_socket(host, port))
    return connection


def _socket(host: str, port: int) -> socket.socket:
    """A connection whose end is noticed, as far as the system can do that."""
    connected = socket.create_connection((host, port), CONNECT_SECONDS)
    for level, name, value in SOCKET_OPTIONS:
        if (option := getattr(socket, name, None)) is not None:
            connected.setsockopt(level, option, value)
    return connected


def _ask(connection: Any, sql: str, values: tuple[Any, ...] = ()) -> Any:
    """The only column of the first row; None for a statement without rows."""
    with connection.cursor(Cursor) as cursor:
        cursor.execute(sql, values)
        if not cursor.description:
            return None
        (value,) = cursor.fetchone()
        return value


def _run(
    cursor: Cursor,
    steps: Sequence[str],
    values: Mapping[str, Any],
    together: Sequence[Mapping[str, Any]] | None = None,
) -> Rows:
    """The statements of a query, as the docstring of this module describes. With `together`, the
    first one is for all of these values.
    """
    values = dict(values)
    ids: Sequence[int] | None = values.pop("ids", None)
    found: Rows = []
    for each in steps:
        step = to_pyformat(each)
        if IDS in step and all(one is None for one in ids or ()):
            continue
        if step.startswith(AGAIN_MARK):
            go_on = _go_on if together is None else select_again
            found += go_on(cursor, step, values, found)
            continue
        if together is not None and each is steps[0] and ROWS not in step:
            found = select_together(cursor, step, [{**values, **own} for own in together])
            ids = [number for number, *_ in found]
            continue
        if IDS in step:
            step = step.replace(IDS, _numbers(ids or ()))
        cursor.execute(step, values)
        if cursor.description:
            found = list(cursor.fetchall())
            ids = [number for number, *_ in found]
            values.update(_moment(cursor, found))
    return found


def _numbers(ids: Sequence[int]) -> str:
    """A list for IN; the driver would quote number by number."""
    return f"({','.join(map(str, map(int, ids)))})"


def _moment(cursor: Cursor, found: Rows) -> Iterator[tuple[str, Any]]:
    names = _names(cursor)
    if found and MOMENT in names:
        yield MOMENT, dict(zip(names, found[0], strict=True))[MOMENT]


def _names(cursor: Cursor) -> list[str]:
    """The columns of the last SELECT. The name is the first of seven facts about each."""
    described: Sequence[Sequence[Any]] = cursor.description or ()
    return [str(name) for name, *_ in described]


def _go_on(cursor: Cursor, step: str, values: Mapping[str, Any], found: Rows) -> Iterator[Row]:
    """From row to row: the columns of the last one are parameters of the step."""
    names, last, most = _names(cursor), found, int(values["lanes"])
    shown = len(found)
    while last and shown < most:
        cursor.execute(step, {**values, **dict(zip(names, last[-1], strict=True))})
        last = list(cursor.fetchall())
        shown += len(last)
        yield from last


def _insert(cursor: Cursor, step: str, statement: Statement) -> Rows:
    """One INSERT for as many rows as fit; its ids follow each other in the order of the rows."""
    head, row, tail = to_pyformat(step).split(ROW_MARK)
    found: Rows = []
    for texts in _row_texts(cursor, row, statement):
        cursor.execute(head + ",".join(texts) + tail)
        first, distance = int(cursor.lastrowid or 0), 1
        if len(texts) > 1:
            cursor.execute("SELECT @@auto_increment_increment")
            ((distance,),) = cursor.fetchall()
        found += [(first + place * distance,) for place in range(len(texts))]
    return found


def _row_texts(cursor: Cursor, template: str, statement: Statement) -> Iterator[list[str]]:
    batch = statement.batch or Batch((), [()])  # without one the values are the only row
    rows = (dict(zip(batch.columns, row, strict=True)) for row in batch.rows)
    texts = (cursor.mogrify(template, {**statement.values, **row}) for row in rows)
    yield from _fitting(texts)


def _parts(batch: Batch) -> Iterator[Batch]:
    """The batch, split where its JSON is too long for one statement."""
    rows = iter(batch.rows)
    for texts in _fitting(_json(Batch(batch.columns, [row])) for row in batch.rows):
        yield Batch(batch.columns, [next(rows) for _ in texts])


def _fitting(texts: Iterator[str]) -> Iterator[list[str]]:
    """Groups of texts that are sent together."""
    group: list[str] = []
    size = 0
    for text in texts:
        if group and size + len(text) > STATEMENT_BYTES:
            yield group
            group, size = [], 0
        group.append(text)
        size += len(text)
    if group:
        yield group


def _json(batch: Batch) -> str:
    """What is None is left out: a missing member is NULL to every JSON_TABLE, a null not always."""
    members = (zip(batch.columns, row, strict=True) for row in batch.rows)
    return json.dumps([{name: v for name, v in row if v is not None} for row in members])


def read_version(text: str) -> tuple[str, tuple[int, ...]]:
    """Product and numbers out of the server's own words, such as 10.11.19-MariaDB-0+deb12u1."""
    product = "MariaDB" if "mariadb" in text.lower() else "MySQL"
    found = re.match(r"(?:5\.5\.5-)?(\d+)\.(\d+)\.(\d+)", text)
    return product, tuple(map(int, found.groups())) if found else (0,)


def check_version(text: str) -> None:
    """Raise UnsupportedDatabase if the server is too old."""
    product, found = read_version(text)
    oldest = OLDEST_MARIADB if product == "MariaDB" else OLDEST_MYSQL
    if found < oldest:
        raise UnsupportedDatabase(
            f"{product} {_dotted(found)} is too old: Tenure needs {_dotted(oldest)} or newer"
        )


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))
