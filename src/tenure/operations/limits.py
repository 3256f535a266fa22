"""Limits of kinds. Handlers declare them; operators override them in the database."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import chain
from typing import TYPE_CHECKING

from tenure.core.rules.limits import Limit, Limits, check_limit
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
    """The limit of a kind, or of each key of a kind, and whether an operator set it."""

    kind: str
    limit: Limit
    each_key: bool = False
    by_operator: bool = False


class KeptLimits:
    """`app.limits`. An operator's limit replaces the handler's within 15 s."""

    def __init__(self, store: Store, handlers: Registry, published: Published) -> None:
        self._store = store
        self._handlers = handlers
        self._published = published

    def set(self, kind: str, limit: Limit, *, each_key: bool = False) -> None:
        """Limit a kind in the whole fleet, or each of its keys (`using(limit_key=...)`)."""
        check_name("kind", kind)
        check_limit(limit)
        need(self._store, Capability.LIMITS)
        data = asdict(limit)
        self._store.records.upsert(Record(collection=_place(each_key), name=kind, data=data))

    def forget(self, kind: str, *, each_key: bool = False) -> bool:
        """Remove an operator's limit; returns whether there was one."""
        return self._store.records.remove(_place(each_key), kind)

    def all(self, published: Mapping[str, PublishedHandler] | None = None) -> list[KindLimit]:
        """What holds: by handlers that live workers of this app have, by this app's own, and by
        operators.
        """
        there = self._published.all() if published is None else published
        found: dict[tuple[str, bool], KindLimit] = {}
        for one in chain(_of(self._published.limits(there)), self._said(), self._kept()):
            found[one.kind, one.each_key] = one
        return [found[name] for name in sorted(found)]

    def declared(self) -> Limits:
        """The limits that the handlers declare. Does not read the database."""
        return _in_force(self._said(), {})

    def for_worker(
        self, caps: Mapping[str, int], published: Mapping[str, PublishedHandler] | None = None
    ) -> Limits:
        """The limits that a worker of this app enforces."""
        known = set(self._handlers.kinds)
        return _in_force([one for one in self.all(published) if one.kind in known], caps)

    def _said(self) -> Iterator[KindLimit]:
        for handler in self._handlers:
            options = handler.options
            yield from _pair(handler.kind, options.limit, options.key_limit)

    def _kept(self) -> Iterable[KindLimit]:
        for each_key in (False, True):
            for record in every(self._store.records, _place(each_key)):
                yield KindLimit(record.name, Limit(**record.data), each_key, by_operator=True)


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
