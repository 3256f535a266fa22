"""Which orders are rolled back, and which bring their process down, and where."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property

VARIABLE = "CRASH_ORDERS"
PRODUCER = ("published", "committed")
WORKER = ("dispatching", "before", "within", "after")
MOMENTS = (*PRODUCER, *WORKER)
ROLLED_BACK_EVERY = 10


@dataclass(frozen=True)
class Fates:
    """So many orders, of which so many are deadly, evenly spread."""

    orders: int
    deadly: int

    @classmethod
    def from_environment(cls) -> Fates:
        """As the test said."""
        orders, deadly = os.environ.get(VARIABLE, "0,0").split(",")
        return cls(int(orders), int(deadly))

    def to_environment(self) -> dict[str, str]:
        """For the programs."""
        return {VARIABLE: f"{self.orders},{self.deadly}"}

    @cached_property
    def _deadly(self) -> dict[int, str]:
        kept = [number for number in range(self.orders) if not self.rolls_back(number)]
        step = len(kept) // (self.deadly + 1) if self.deadly else 0
        chosen = [kept[step * (place + 1)] for place in range(self.deadly)]
        return {number: MOMENTS[place % len(MOMENTS)] for place, number in enumerate(chosen)}

    def of(self, order: int) -> str | None:
        """The moment at which its process ends."""
        return self._deadly.get(order)

    def rolls_back(self, order: int) -> bool:
        """Every tenth."""
        return order % ROLLED_BACK_EVERY == ROLLED_BACK_EVERY - 3

    @property
    def kept(self) -> set[int]:
        """Orders that must be there in the end."""
        return {number for number in range(self.orders) if not self.rolls_back(number)}
