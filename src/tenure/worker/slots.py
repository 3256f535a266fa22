"""How many jobs of each queue run here at a time. Asked at claim, so nothing waits claimed."""

from __future__ import annotations

from collections.abc import Mapping

from tenure.core.errors import OptionError


class Slots:
    """Slots per queue: ten jobs of a heavy queue never block another queue."""

    def __init__(self, capacity: Mapping[str, int]) -> None:
        if any(count < 1 for count in capacity.values()):
            raise OptionError("a queue needs at least one slot")
        self._capacity = dict(capacity)
        self._used = dict.fromkeys(capacity, 0)

    @property
    def capacity(self) -> Mapping[str, int]:
        """What there is in all."""
        return dict(self._capacity)

    @property
    def total(self) -> int:
        """All slots of all queues."""
        return sum(self._capacity.values())

    def free(self, at_most: int | None = None) -> dict[str, int]:
        """Free slots by queue, no more than `at_most` in all."""
        left = self.total if at_most is None else at_most
        found: dict[str, int] = {}
        for queue, size in self._capacity.items():
            count = min(size - self._used[queue], left)
            if count > 0:
                found[queue] = count
                left -= count
        return found

    def take(self, queue: str) -> None:
        """One less."""
        self._used[queue] += 1

    def give_back(self, queue: str) -> None:
        """One more."""
        self._used[queue] -= 1
