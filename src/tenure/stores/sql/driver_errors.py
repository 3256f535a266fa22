"""Turns a driver's errors into Tenure's, so that callers need not know the driver."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from tenure.core.errors import ContentRefused, StoreBusy, StoreUnavailable, TenureError
from tenure.stores.sql.dialect import Dialect, Trouble

T = TypeVar("T")


@contextmanager
def named_errors(dialect: Dialect) -> Iterator[None]:
    """StoreUnavailable for a lost connection or a server that cannot answer now."""
    try:
        yield
    except TenureError:
        raise
    except Exception as error:
        trouble = dialect.trouble(error)
        if trouble is Trouble.LOST:
            raise StoreUnavailable(f"the database cannot be reached: {error}") from error
        if trouble is Trouble.UNABLE:
            raise StoreUnavailable(f"the database cannot do this now: {error}") from error
        raise


def raise_unless_repeatable(dialect: Dialect, error: Exception, *, once: bool) -> None:
    """Return if the transaction should run again; otherwise raise the error by name."""
    trouble = dialect.trouble(error)
    if trouble is Trouble.UNABLE:
        raise StoreUnavailable(f"the database cannot do this now: {error}") from error
    if trouble is Trouble.LOCKED and once:
        raise StoreBusy(f"another transaction holds a lock: {error}") from error
    if trouble not in (Trouble.AGAIN, Trouble.LOCKED):
        raise error


def naming_refused_rows(dialect: Dialect, action: Callable[[], T]) -> T:
    """Run `action`; a row that the database rejects for its content raises ContentRefused."""
    try:
        return action()
    except TenureError:
        raise
    except Exception as error:
        if dialect.trouble(error) is Trouble.REFUSED:
            raise ContentRefused(f"the database refuses a row: {error}") from error
        raise
