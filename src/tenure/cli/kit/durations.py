"""Format durations and counts for people."""

from __future__ import annotations

from datetime import datetime

from tenure.watch.text import plural as plural


def ago(moment: datetime | None, now: datetime) -> str:
    """`12s ago`, `in 3m`."""
    if moment is None:
        return ""
    seconds = (now - moment).total_seconds()
    return f"in {span(-seconds)}" if seconds < -1 else f"{span(max(seconds, 0))} ago"


def span(seconds: float) -> str:
    """A duration in its largest whole unit: `3m`."""
    for name, size in (("d", 86_400), ("h", 3_600), ("m", 60)):
        if seconds >= 2 * size:
            return f"{int(seconds // size)}{name}"
    return f"{seconds:.0f}s"


def exact(seconds: int) -> str:
    """A duration in the largest unit that loses nothing: `90s`, `2m`."""
    units = (("d", 86_400), ("h", 3_600), ("m", 60))
    name, size = next((unit for unit in units if seconds % unit[1] == 0), ("s", 1))
    return f"{seconds // size}{name}"
