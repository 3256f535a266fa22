"""How much a tick may still do."""

from __future__ import annotations

import time
from collections.abc import Callable

from tenure.core.errors import OptionError


class Budget:
    """Seconds and items; None means no limit. Time is that of the monotonic clock."""

    def __init__(
        self,
        *,
        seconds: float | None = None,
        items: int | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        if (seconds is not None and seconds < 0) or (items is not None and items < 0):
            raise OptionError("a budget cannot be negative")
        self._monotonic = monotonic
        self._deadline = None if seconds is None else monotonic() + seconds
        self._items = items

    @property
    def seconds_left(self) -> float | None:
        """Never negative; None without a limit."""
        if self._deadline is None:
            return None
        return max(0.0, self._deadline - self._monotonic())

    @property
    def items_left(self) -> int | None:
        """None without a limit."""
        return self._items

    @property
    def spent(self) -> bool:
        """Whether nothing more may be started."""
        return self.seconds_left == 0.0 or self._items == 0

    def use(self, items: int) -> None:
        """Count work that was taken on."""
        if self._items is not None:
            self._items = max(0, self._items - items)

    def stop(self) -> None:
        """Start nothing more; parts that were handed out continue."""
        self._deadline = self._monotonic()

    def part(self, *, seconds: float | None, items: int | None) -> Budget:
        """A budget for one runner: its own limits, within this budget's time."""
        left = self.seconds_left
        bounds = [value for value in (seconds, left) if value is not None]
        return Budget(
            seconds=min(bounds) if bounds else None, items=items, monotonic=self._monotonic
        )
