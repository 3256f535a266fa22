"""Events in the logic, sentences elsewhere: code emits facts, subscribers make log lines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Subscriber = Callable[[str, Mapping[str, Any]], None]


class Signals:
    """One engine's events. A subscriber that raises is dropped from that event, never the job."""

    def __init__(self) -> None:
        self._subscribers: list[Subscriber] = []

    def subscribe(self, subscriber: Subscriber) -> Callable[[], None]:
        """Call `subscriber(name, facts)` for every event; returns how to stop."""
        self._subscribers.append(subscriber)
        return lambda: self._subscribers.remove(subscriber)

    def emit(self, name: str, **facts: Any) -> None:
        """Tell everybody who listens."""
        for subscriber in tuple(self._subscribers):
            try:
                subscriber(name, facts)
            except Exception:  # noqa: S112 - watching must not break the work
                continue
