"""Wakes workers after a foreign transaction has committed, by hooks of SQLAlchemy and Django.

A raw connection has no hook: its jobs wait for the next poll, or the transaction itself notifies.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from tenure.stores.sql.foreign.transaction import committed_at_once, library
from tenure.wakeups.due_jobs import Due, Wakeups

WAITING = "tenure_due"
_installing = threading.Lock()


def when_committed(tx: Any, wakeups: Wakeups, due: Due) -> None:
    """Wake workers after the commit, never after a rollback, if the library has a hook."""
    match library(tx):
        case "django" if hasattr(tx, "on_commit"):
            if tx.in_atomic_block or tx.get_autocommit():
                tx.on_commit(lambda: wakeups.tell(due), robust=True)
        case "sqlalchemy":
            _on_sqlalchemy(_sync_connection(tx), wakeups, due)
        case _:
            if committed_at_once(tx):
                wakeups.tell(due)


def _sync_connection(tx: Any) -> Any:
    """The blocking connection inside a session, or inside an async connection or session."""
    plain = getattr(tx, "sync_session", None) or getattr(tx, "sync_connection", None) or tx
    return plain if hasattr(plain, "exec_driver_sql") else plain.connection()


def _on_sqlalchemy(connection: Any, wakeups: Wakeups, due: Due) -> None:
    pooled = connection.connection
    if committed_at_once(pooled.dbapi_connection):
        wakeups.tell(due)
        return
    _install(connection.dialect)
    waiting = pooled.info.setdefault(WAITING, {})
    waiting[wakeups] = waiting.get(wakeups, Due()).with_more(due)


def _install(dialect: Any) -> None:
    """Wrap the dialect's own commit. SQLAlchemy's event of that name comes before the commit, when
    a worker would look too early and find nothing.
    """
    with _installing:
        if not getattr(dialect.do_commit, WAITING, False):
            dialect.do_commit = _then(dialect.do_commit, _tell)
            dialect.do_rollback = _then(dialect.do_rollback, _waiting)


def _then(end: Callable[[Any], None], after: Callable[[Any], object]) -> Callable[[Any], None]:
    def ended(dbapi_connection: Any) -> None:
        end(dbapi_connection)
        after(dbapi_connection)

    setattr(ended, WAITING, True)
    return ended


def _tell(dbapi_connection: Any) -> None:
    for wakeups, due in _waiting(dbapi_connection).items():
        wakeups.tell(due)


def _waiting(dbapi_connection: Any) -> dict[Wakeups, Due]:
    """What is waiting on this connection, taken off it: after a rollback nobody is woken."""
    info = getattr(dbapi_connection, "info", None)
    found: dict[Wakeups, Due] = info.pop(WAITING, {}) if isinstance(info, dict) else {}
    return found
