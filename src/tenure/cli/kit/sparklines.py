"""Small charts in one line of text."""

from __future__ import annotations

from collections.abc import Sequence

BARS = "▁▂▃▄▅▆▇█"


def sparkline(values: Sequence[float]) -> str:
    """One bar for each value. Zero is a space, so that something can be told from nothing.

    >>> sparkline([0, 1, 4])
    ' ▂█'
    """
    most = max(values, default=0)
    if most <= 0:
        return " " * len(values)
    top = len(BARS) - 1
    return "".join(BARS[round(value / most * top)] if value > 0 else " " for value in values)


def narrowed(values: Sequence[float], width: int) -> list[float]:
    """The values in at most so many sums, for a line that is not as wide."""
    if len(values) <= width:
        return list(values)
    size = -(-len(values) // width)
    return [sum(values[at : at + size]) for at in range(0, len(values), size)]
