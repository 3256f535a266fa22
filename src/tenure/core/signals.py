"""Events in the logic, sentences elsewhere: code emits facts, subscribers make log lines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Subscriber = Callable[[str, Mapping[str, Any]], None]


class Signals:
    """One engine's events. A subscriber that raises harms neither the job nor the others."""

    def __init__(self) -> None:
        self._to_all: tuple[Subscriber, ...] = ()
        self._by_name: dict[str, tuple[Subscriber, ...]] = {}

    def subscribe(self, subscriber: Subscriber, *names: str) -> Callable[[], None]:
        """Call `subscriber(name, facts)` for these events, or for all; returns how to stop."""
        if not names:
            self._to_all = (*self._to_all, subscriber)
        for name in names:
            self._by_name[name] = (*self._by_name.get(name, ()), subscriber)
        return lambda: self._remove(subscriber)

    def heard(self, name: str) -> bool:
        """Whether anybody listens: a hot path need not gather facts for nobody."""
        return bool(self._to_all) or name in self._by_name

    def emit(self, name: str, **facts: Any) -> None:
        """Tell everybody who listens."""
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
