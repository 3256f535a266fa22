"""Who gets which events: one record for each type or pattern, written by the workers that know
subscribers.

The record decides, not the code of whoever dispatches: an older worker, or one of another program,
knows every subscriber of the fleet. Nobody leaves it because some code no longer names it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from tenure.core.errors import OptionError, VersionConflict
from tenure.features.outbox.patterns import candidates
from tenure.features.outbox.subscription import Subscription
from tenure.stores.contract.parts import Record, RecordStore, every

if TYPE_CHECKING:
    from tenure.app import Tenure

SUBSCRIPTIONS = "outbox.subscriptions"
TRIES = 20
Rows = dict[str, Subscription]
"""The subscriptions of one type, by subscriber."""


class Subscriptions:
    """The subscriptions of this program, and those of all programs in the database."""

    def __init__(self, app: Tenure) -> None:
        self._app = app
        self._written: tuple[object, ...] = ()
        self.declared: dict[str, Rows] = {}

    def check_free(self, type: str, subscriber: str) -> None:
        """Refuse a second function for the same type and subscriber."""
        if subscriber in self.declared.get(type, {}):
            raise OptionError(
                f"{subscriber!r} subscribes to {type!r} already; give this one another "
                "subscriber='...'"
            )

    def declare(self, new: Subscription) -> None:
        """Declare a subscription of this program."""
        self.declared.setdefault(new.type, {})[new.subscriber] = new

    def register(self) -> None:
        """Write the declared subscriptions into records, once for each process and store."""
        declared = [one for rows in self.declared.values() for one in rows.values()]
        known = os.getpid(), self._app.store, len(declared)
        if known == self._written:
            return
        for type, rows in self.declared.items():
            self._change(type, lambda there, rows=rows: {**there, **rows})  # type: ignore[misc]
        self._written = known

    def active(self, type: str) -> list[Subscription]:
        """The active subscribers of events of a type, each once: by its most specific subscription.
        Those known only to this program are written first.
        """
        names = candidates(type)
        there = {one.name: _rows(one) for one in self._records.find_all(SUBSCRIPTIONS, names)}
        found: Rows = {}
        for name in names:
            own, rows = self.declared.get(name, {}), there.get(name, {})
            if not own.keys() <= rows.keys():
                rows = self._change(name, lambda known, own=own: {**own, **known})  # type: ignore[misc]
            for one in rows.values():
                if one.active:
                    found.setdefault(one.subscriber, one)
        return list(found.values())

    def all(self) -> Iterator[Subscription]:
        """All subscriptions by type, including ended ones and ones not yet written."""
        types = dict(self._types())
        for type in sorted({*types, *self.declared}):
            rows = {**self.declared.get(type, {}), **types.get(type, {})}
            yield from (rows[name] for name in sorted(rows))

    def end(self, type: str, subscriber: str) -> Subscription:
        """End a subscription."""

        def ended(there: Rows) -> Rows:
            if subscriber not in there:
                names = ", ".join(there) or "nobody"
                raise OptionError(f"{subscriber!r} does not subscribe to {type!r}; {names} does")
            return {**there, subscriber: replace(there[subscriber], active=False)}

        return self._change(type, ended)[subscriber]

    @property
    def _records(self) -> RecordStore:
        return self._app.store.records

    def _types(self) -> Iterator[tuple[str, Rows]]:
        for record in every(self._app.store.records, SUBSCRIPTIONS):
            yield record.name, _rows(record)

    def _find(self, type: str) -> tuple[Rows, Record]:
        record = self._app.store.records.find(SUBSCRIPTIONS, type)
        if record is None:
            record = Record(collection=SUBSCRIPTIONS, name=type)
        return _rows(record), record

    def _change(self, type: str, change: Callable[[Rows], Rows]) -> Rows:
        """Change the record of a type. Retried if somebody else changed it in between."""
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
