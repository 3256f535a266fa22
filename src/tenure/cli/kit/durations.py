"""Format durations and counts for people."""

from __future__ import annotations

from tenure.watch.doctor.durations import ago as ago
from tenure.watch.doctor.durations import span as span
from tenure.watch.text import plural as plural


def exact(seconds: int) -> str:
    """A duration in the largest unit that loses nothing: `90s`, `2m`."""
    units = (("d", 86_400), ("h", 3_600), ("m", 60))
    name, size = next((unit for unit in units if seconds % unit[1] == 0), ("s", 1))
    return f"{seconds // size}{name}"
