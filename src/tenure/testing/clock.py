"""A clock that stands still until a test turns it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

START = datetime(2026, 1, 1, tzinfo=UTC)


class ManualClock:
    """Give it to a store instead of the database's own clock.

    >>> clock = ManualClock()
    >>> clock.advance(seconds=30)
    >>> clock.now().isoformat()
    '2026-01-01T00:00:30+00:00'
    """

    def __init__(self, start: datetime = START) -> None:
        self._now = start.astimezone(UTC)

    def now(self) -> datetime:
        """The moment it shows, aware and in UTC."""
        return self._now

    def advance(self, *, seconds: float) -> None:
        """Turn it forward; a clock never goes back."""
        if seconds < 0:
            raise ValueError(f"a clock does not go back: {seconds} s")
        self._now += timedelta(seconds=seconds)
