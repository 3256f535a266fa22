"""How large a run is: the sizes of the issue, or a part of them for a quick look."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Scale:
    """`--scale 0.1` runs everything with a tenth of the rows; figures are then only a hint."""

    factor: float = 1.0

    def rows(self, full: float) -> int:
        """In whole thousands, and at least one."""
        return max(1, round(full * self.factor / 1_000)) * 1_000

    def seconds(self, full: float) -> float:
        """At least two."""
        return max(2.0, full * self.factor)
