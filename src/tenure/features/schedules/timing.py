"""When a schedule has its slots: moments in UTC, the same wherever the walk begins.

No clock, no database.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from typing import Protocol

from tenure.core.errors import OptionError
from tenure.core.timing.clock import from_micros, to_micros

LONGEST_EVERY = 366 * 86_400
NEVER = datetime.max.replace(tzinfo=UTC)
SECOND = 1_000_000


class Timing(Protocol):
    """A rule for slots."""

    def slots(self, after: datetime) -> Iterator[datetime]:
        """Every slot later than this moment, in order."""
        ...


@dataclass(frozen=True, slots=True)
class Every:
    """Every so many seconds of absolute time, counted from 1970: no clock change moves it."""

    seconds: int

    def __post_init__(self) -> None:
        if type(self.seconds) is not int or not 1 <= self.seconds <= LONGEST_EVERY:
            raise OptionError(
                f"every must be from 1 second to 366 days in whole seconds, not {self.seconds!r}: "
                "give seconds=, minutes= or hours="
            )

    def slots(self, after: datetime) -> Iterator[datetime]:
        """Multiples of the interval."""
        step = self.seconds * SECOND
        for number in count(to_micros(after) // step + 1):
            yield from_micros(number * step)


def following(timing: Timing, after: datetime) -> datetime:
    """The first slot later than this moment."""
    return next(timing.slots(after), NEVER)
