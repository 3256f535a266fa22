"""Durations for people."""

from __future__ import annotations

from datetime import datetime


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
