"""Limits of kinds and of keys within them. Handlers declare them; operators override them in the
database, and hold what must not start for a while.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from tenure.core.errors import OptionError
from tenure.core.rules.holds import KeyHold, moment_of, new_hold
from tenure.core.rules.limits import Limit, Limits, check_limit
from tenure.jobs.blocking import check_off_loop
from tenure.jobs.option_values import check_moment
from tenure.jobs.options import check_name
from tenure.jobs.published_handlers import Published, PublishedHandler
from tenure.stores.contract import Capability, Store
from tenure.stores.contract.needs import need
from tenure.stores.contract.parts import Record, every

if TYPE_CHECKING:
    from tenure.jobs.registry import Registry

LIMITS = "limits"
KEY_LIMITS = "key_limits"


@dataclass(frozen=True, slots=True)
class KindLimit:
    """The limit of a kind, of each key of a kind, or of one key, and whether an operator set it."""

    kind: str
    limit: Limit
    each_key: bool = False
    by_operator: bool = False
    key: str | None = None


class LimitValues(TypedDict, total=False):
    """The values of a limit, in place of a `Limit`."""

    concurrency: int | None
    rate: float | None
    per: float
    burst: int | None


class KeptLimits:
    """`app.limits`. An operator's limit of a kind replaces the handler's within 15 s. A limit of
    one key, and a hold, reach every worker within a second.
    """

    def __init__(self, store: Store, handlers: Registry, published: Published) -> None:
        self._store = store
        self._handlers = handlers
        self._published = published

    def set(
        self,
        kind: str,
        limit: Limit | None = None,
        *,
        key: str | None = None,
        each_key: bool = False,
        **values: Unpack[LimitValues],
    ) -> Limit:
        """Limit a kind in the whole fleet, each of its keys (`using(limit_key=...)`), or one key.

        >>> app.limits.set("push", Limit(running=10))
        >>> app.limits.set("push", key="acme", concurrency=2, rate=5, burst=1)
        """
        check_name("kind", kind)
        check_name("limit_key", key)
        limit = _limit(limit, values)
        need(self._store, Capability.LIMITS)
        if key is not None:
            _check_one_key(each_key)
            self._store.gates.limit(kind, key, limit)
        else:
            data = asdict(limit)
            self._store.records.upsert(Record(collection=_place(each_key), name=kind, data=data))
        return limit

    def forget(self, kind: str, *, key: str | None = None, each_key: bool = False) -> bool:
        """Remove an operator's limit; returns whether there was one."""
        if key is None:
            return self._store.records.remove(_place(each_key), kind)
        _check_one_key(each_key)
        check_name("kind", kind)
        check_name("limit_key", key)
        return self._store.gates.limit(kind, key, None)

    def hold(
        self,
        kind: str,
        key: str | None,
        until: datetime | float,
        reason: str,
        *,
        probes: int = 0,
        tx: Any = None,
    ) -> KeyHold:
        """Let no job of a key start before `until`, a moment or a number of seconds from now; of
        the whole kind if `key` is None. Its jobs wait: they spend no attempt and no snooze.

        With `probes`, the hold does not end by itself: when its time is over, so many jobs start,
        then it holds for as long again, until it is released or held anew.

        >>> app.limits.hold("push", "acme", 60, "503 from api.acme.example", probes=1)
        """
        check_off_loop("hold()", "await hold_async()")
        _check_gate(kind, key)
        if isinstance(until, datetime):
            check_moment("until", until)
        need(self._store, Capability.LIMITS)
        now = self._store.now()
        ends = moment_of(until, now)
        hold = new_hold(kind, key, now=now, until=ends, reason=reason, probes=probes)
        self._store.gates.hold(hold, getattr(tx, "inner", tx))
        return hold

    def release(self, kind: str, key: str | None, *, tx: Any = None) -> bool:
        """End a hold: its jobs go on within a second. Returns whether there was one."""
        check_off_loop("release()", "await release_async()")
        _check_gate(kind, key)
        need(self._store, Capability.LIMITS)
        return self._store.gates.release(kind, key, getattr(tx, "inner", tx))

    async def hold_async(
        self, kind: str, key: str | None, until: datetime | float, reason: str, *, probes: int = 0
    ) -> KeyHold:
        """`hold` from a coroutine."""
        return await asyncio.to_thread(partial(self.hold, kind, key, until, reason, probes=probes))

    async def release_async(self, kind: str, key: str | None) -> bool:
        """`release` from a coroutine."""
        return await asyncio.to_thread(self.release, kind, key)

    def holds(self) -> list[KeyHold]:
        """The holds in force, by kind and key."""
        if Capability.LIMITS not in self._store.capabilities:
            return []
        return list(self._store.gates.holds())

    def all(self, published: Mapping[str, PublishedHandler] | None = None) -> list[KindLimit]:
        """What holds: by handlers that live workers of this app have, by this app's own, and by
        operators.
        """
        there = self._published.all() if published is None else published
        found: dict[tuple[str, bool, str], KindLimit] = {}
        for one in chain(_of(self._published.limits(there)), self._said(), self._kept()):
            found[one.kind, one.each_key, one.key or ""] = one
        return [found[name] for name in sorted(found)]

    def declared(self) -> Limits:
        """The limits that the handlers declare. Does not read the database."""
        return _in_force(self._said(), {})

    def for_worker(
        self, caps: Mapping[str, int], published: Mapping[str, PublishedHandler] | None = None
    ) -> Limits:
        """The limits that a worker of this app enforces. Its claims read those of single keys."""
        known = set(self._handlers.kinds)
        limits = [one for one in self.all(published) if one.kind in known and one.key is None]
        begins: frozenset[str] = frozenset()
        if Capability.LIMITS in self._store.capabilities:
            begins = self._store.gates.begins(known)
        return replace(_in_force(limits, caps), begins=begins)

    def _said(self) -> Iterator[KindLimit]:
        for handler in self._handlers:
            options = handler.options
            yield from _pair(handler.kind, options.limit, options.key_limit)

    def _kept(self) -> Iterable[KindLimit]:
        for each_key in (False, True):
            for record in every(self._store.records, _place(each_key)):
                yield KindLimit(record.name, Limit(**record.data), each_key, by_operator=True)
        if Capability.LIMITS in self._store.capabilities:
            for one in self._store.gates.limits():
                yield KindLimit(one.kind, one.limit, by_operator=True, key=one.key)


def _of(published: Iterable[PublishedHandler]) -> Iterator[KindLimit]:
    for one in published:
        yield from _pair(one.kind, one.limit, one.key_limit)


def _pair(kind: str, limit: Limit | None, key_limit: Limit | None) -> Iterator[KindLimit]:
    if limit is not None:
        yield KindLimit(kind, limit)
    if key_limit is not None:
        yield KindLimit(kind, key_limit, each_key=True)


def _in_force(limits: Iterable[KindLimit], caps: Mapping[str, int]) -> Limits:
    mine = list(limits)
    return Limits(
        kinds={one.kind: one.limit for one in mine if not one.each_key},
        keys={one.kind: one.limit for one in mine if one.each_key},
        tenants=caps,
    )


def _place(each_key: bool) -> str:
    return KEY_LIMITS if each_key else LIMITS


def _limit(limit: Limit | None, values: LimitValues) -> Limit:
    """The limit that was given whole, or by its values."""
    if limit is not None and values:
        raise OptionError("give a Limit or its values, not both")
    if limit is not None or not values:
        check_limit(limit)
        return limit  # type: ignore[return-value]
    if unknown := values.keys() - LimitValues.__optional_keys__:
        raise OptionError(
            f"a limit has no {sorted(unknown)[0]!r}; it has concurrency, rate, per and burst"
        )
    return Limit(
        running=values.get("concurrency"),
        rate=values.get("rate"),
        per=values.get("per", 1.0),
        burst=values.get("burst"),
    )


def _check_one_key(each_key: bool) -> None:
    if each_key:
        raise OptionError("give key for one key, or each_key for all of them, not both")


def _check_gate(kind: str, key: str | None) -> None:
    check_name("kind", kind)
    if key == "":
        raise OptionError("limit_key cannot be empty; pass None for the whole kind")
    check_name("limit_key", key)
