"""Signals: code emits facts, subscribers turn them into log lines, metrics and events."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Subscriber = Callable[[str, Mapping[str, Any]], None]


class Signals:
    """The signals of one app. A subscriber that raises affects neither jobs nor others."""

    def __init__(self) -> None:
        self._to_all: tuple[Subscriber, ...] = ()
        self._by_name: dict[str, tuple[Subscriber, ...]] = {}

    def subscribe(self, subscriber: Subscriber, *names: str) -> Callable[[], None]:
        """Call `subscriber(name, facts)` for these signals or all; returns how to unsubscribe."""
        if not names:
            self._to_all = (*self._to_all, subscriber)
        for name in names:
            self._by_name[name] = (*self._by_name.get(name, ()), subscriber)
        return lambda: self._remove(subscriber)

    def heard(self, name: str) -> bool:
        """Whether anybody listens, so that a hot path can skip collecting facts."""
        return bool(self._to_all) or name in self._by_name

    def emit(self, name: str, **facts: Any) -> None:
        """Call every subscriber."""
        for subscriber in self._to_all + self._by_name.get(name, ()):
            try:
                subscriber(name, facts)
            except Exception:  # noqa: S112 - watching must not break the work
                continue

    def _remove(self, subscriber: Subscriber) -> None:
        self._to_all = tuple(one for one in self._to_all if one is not subscriber)
        for name, found in list(self._by_name.items()):
            left = tuple(one for one in found if one is not subscriber)
            if left:
                self._by_name[name] = left
            else:
                del self._by_name[name]
