"""The clock as a value to pass in. A store opened without one uses the database's own clock."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Protocol

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


class Clock(Protocol):
    """Tells the time. Tests bring their own."""

    def now(self) -> datetime:
        """The present moment, aware and in UTC."""
        ...


def to_micros(moment: datetime) -> int:
    """The moment as stored: whole microseconds since 1970, UTC."""
    return (moment - EPOCH) // MICROSECOND


def from_micros(micros: int) -> datetime:
    """The stored number as an aware moment."""
    return EPOCH + timedelta(microseconds=micros)


def seconds_to_micros(seconds: float) -> int:
    """A length of time as stored."""
    return round(seconds * 1_000_000)
