"""Who gets which events: one record for each type, which the workers that know subscribers write.

The record decides, not the code of whoever dispatches: an older worker, or one of another program,
knows every subscriber of the fleet. Nobody leaves it because some code no longer names it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from tenure.core.errors import OptionError, VersionConflict
from tenure.features.outbox.subscription import Subscription
from tenure.stores.contract.parts import Record, every

if TYPE_CHECKING:
    from tenure.app import Tenure

SUBSCRIPTIONS = "outbox.subscriptions"
TRIES = 20
Rows = dict[str, Subscription]
"""The subscriptions of one type, by subscriber."""


class Subscriptions:
    """Those that this program declares, and all that there are."""

    def __init__(self, app: Tenure) -> None:
        self._app = app
        self._written: tuple[object, ...] = ()
        self.declared: dict[str, Rows] = {}

    def check_free(self, type: str, subscriber: str) -> None:
        """One function for each type and subscriber."""
        if subscriber in self.declared.get(type, {}):
            raise OptionError(
                f"{subscriber!r} subscribes to {type!r} already; give this one another "
                "subscriber='...'"
            )

    def declare(self, new: Subscription) -> None:
        """Of this program."""
        self.declared.setdefault(new.type, {})[new.subscriber] = new

    def register(self) -> None:
        """What the code declares into records: once for each process, store and declaration."""
        declared = [one for rows in self.declared.values() for one in rows.values()]
        known = os.getpid(), self._app.store, len(declared)
        if known == self._written:
            return
        for type, rows in self.declared.items():
            self._change(type, lambda there, rows=rows: {**there, **rows})  # type: ignore[misc]
        self._written = known

    def active(self, type: str) -> list[Subscription]:
        """Who gets an event of this type now; whom only this program knows is written first."""
        own = self.declared.get(type, {})
        rows = self._find(type)[0]
        if not own.keys() <= rows.keys():
            rows = self._change(type, lambda there: {**own, **there})
        return [one for one in rows.values() if one.active]

    def all(self) -> Iterator[Subscription]:
        """By type; those that ended too, and those that are not yet written."""
        types = dict(self._types())
        for type in sorted({*types, *self.declared}):
            rows = {**self.declared.get(type, {}), **types.get(type, {})}
            yield from (rows[name] for name in sorted(rows))

    def end(self, type: str, subscriber: str) -> Subscription:
        """It gets no more events."""

        def ended(there: Rows) -> Rows:
            if subscriber not in there:
                names = ", ".join(there) or "nobody"
                raise OptionError(f"{subscriber!r} does not subscribe to {type!r}; {names} does")
            return {**there, subscriber: replace(there[subscriber], active=False)}

        return self._change(type, ended)[subscriber]

    def _types(self) -> Iterator[tuple[str, Rows]]:
        for record in every(self._app.store.records, SUBSCRIPTIONS):
            yield record.name, _rows(record)

    def _find(self, type: str) -> tuple[Rows, Record]:
        record = self._app.store.records.find(SUBSCRIPTIONS, type)
        if record is None:
            record = Record(collection=SUBSCRIPTIONS, name=type)
        return _rows(record), record

    def _change(self, type: str, change: Callable[[Rows], Rows]) -> Rows:
        """Again where somebody came between."""
        for _ in range(TRIES):
            before, record = self._find(type)
            after = change(before)
            if after == before:
                return after
            try:
                self._app.store.records.put(replace(record, data=_data(after.values())))
            except VersionConflict:
                continue
            return after
        raise VersionConflict(SUBSCRIPTIONS, type)


def _rows(record: Record) -> Rows:
    found = record.data.get("subscribers", {})
    return {name: Subscription.of(record.name, name, data) for name, data in found.items()}


def _data(rows: Iterable[Subscription]) -> dict[str, object]:
    return {"subscribers": {one.subscriber: one.to_data() for one in rows}}
