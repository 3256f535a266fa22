"""Cron expressions in a time zone: a thin layer over cronsim, with our words for what is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from tenure.core.errors import OptionError

ALIASES = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
SOME_DAY = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Cron:
    """Five fields in a zone, as Debian's cron reads them.

    A fixed time that the spring change leaves out comes at the end of the gap; one that the
    autumn change repeats comes the first time only. Where minute or hour begins with `*`, slots
    go by the time that really passes.
    """

    expression: str
    zone: str = "UTC"

    def __post_init__(self) -> None:
        zone_of(self.zone)
        if len(_fields(self.expression).split()) != 5:
            raise _wrong(self.expression, "it needs five fields")
        try:
            first = next(CronSim(_fields(self.expression), SOME_DAY), None)
        except CronSimError as error:
            raise _wrong(self.expression, str(error).lower()) from None
        if first is None:
            raise _wrong(self.expression, "such a day never comes")

    def slots(self, after: datetime) -> Iterator[datetime]:
        """Later than `after`, even where the clock shows that time again."""
        for local in CronSim(_fields(self.expression), after.astimezone(zone_of(self.zone))):
            if (slot := local.astimezone(UTC)) > after:
                yield slot


def zone_of(name: object) -> tzinfo:
    """A time zone by its IANA name."""
    if name == "UTC":
        return UTC
    try:
        return ZoneInfo(name if isinstance(name, str) else "")
    except (KeyError, ValueError, OSError):
        raise OptionError(
            f"zone {name!r} is not a time zone; write an IANA name like Europe/Berlin"
        ) from None


def _fields(expression: object) -> str:
    if not isinstance(expression, str):
        raise _wrong(expression, "it is no text")
    return ALIASES.get(expression.strip().lower(), expression)


def _wrong(expression: object, problem: str) -> OptionError:
    return OptionError(
        f"cron {expression!r}: {problem}; write minute hour day month weekday, "
        f"like '30 2 * * 1-5', or one of {', '.join(ALIASES)}"
    )
