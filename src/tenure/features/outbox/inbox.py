"""`Inbox(app)`: a message that is received again counts once, in the transaction of its effects."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tenure.core.errors import NeedsTransaction, OptionError
from tenure.core.outcome import check_delay
from tenure.features.outbox.event import check_text, fitting
from tenure.jobs.blocking import check_off_loop
from tenure.jobs.options import check_name
from tenure.jobs.transaction import OpenTransaction

if TYPE_CHECKING:
    from tenure.app import Tenure

WEEK = 7 * 86_400.0
SCOPE = "inbox:"


class Inbox:
    """Remembers what each consumer has received, for `window` seconds.

    >>> from tenure import Tenure
    >>> app = Tenure("sqlite:///tenure.db")
    >>> inbox = Inbox(app)
    >>> with inbox("payments", "evt_1") as tx:    # doctest: +SKIP
    ...     if tx:
    ...         tx.execute("update invoices set …")
    """

    def __init__(self, app: Tenure, *, window: float = WEEK) -> None:
        if not check_delay("window", window):
            raise OptionError("window must be greater than 0")
        self._app = app
        self._window = window

    @contextmanager
    def __call__(
        self, consumer: str, message_id: str, *, tenant: str = ""
    ) -> Iterator[OpenTransaction | None]:
        """A transaction for the effects of this message; None where it was received before."""
        with self._app.transaction() as tx:
            yield tx if self.first(tx, consumer, message_id, tenant=tenant) else None

    def first(self, tx: Any, consumer: str, message_id: str, *, tenant: str = "") -> bool:
        """Whether this consumer receives it for the first time; that counts if `tx` commits.

        Of two at once one goes on, and the other waits for its commit and is told no.
        """
        check_off_loop("first()", "await first_async()")
        inner, scope, name = self._asked(tx, consumer, message_id, tenant)
        return self._app.store.keys.take(tenant, scope, name, self._window, inner)

    async def first_async(
        self, tx: Any, consumer: str, message_id: str, *, tenant: str = ""
    ) -> bool:
        """The same from a coroutine: in `async with job.settle()`, or an async connection."""
        inner, scope, name = self._asked(tx, consumer, message_id, tenant)
        keys = self._app.store.keys
        if inner is not tx and not self._app.store.is_async(inner):
            return await asyncio.to_thread(keys.take, tenant, scope, name, self._window, inner)
        return await keys.take_async(tenant, scope, name, self._window, inner)

    def _asked(self, tx: Any, consumer: str, message_id: str, tenant: str) -> tuple[Any, str, str]:
        if tx is None or isinstance(tx, str):
            raise NeedsTransaction("inbox.first(tx, consumer, message_id)")
        check_text("consumer", consumer)
        check_name("tenant", tenant)
        if not isinstance(message_id, str) or not message_id:
            raise OptionError(f"a message id is text that is not empty, not {message_id!r}")
        return getattr(tx, "inner", tx), SCOPE + consumer, fitting(message_id)
