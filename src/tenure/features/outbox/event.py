"""An event: something that happened to an aggregate, in the words of whoever publishes it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, ClassVar

from pydantic import ConfigDict

from tenure.core.errors import OptionError
from tenure.core.rules.order import SAME_LOCK
from tenure.jobs.options import FORBIDDEN, LENGTHS, check_name

LONGEST_THING = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """What a subscriber gets as its second argument. `occurred_at` is when it was published."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="ignore")  # of later versions

    id: str
    type: str
    aggregate_type: str | None = None
    aggregate_id: str | None = None
    data: Any = None
    occurred_at: datetime | None = None

    @property
    def aggregate(self) -> tuple[str, str] | None:
        """What it happened to."""
        if self.aggregate_type is None or self.aggregate_id is None:
            return None
        return self.aggregate_type, self.aggregate_id

    def to_payload(self) -> Mapping[str, Any]:
        """As the payload of a job; the time is left out while nobody has said one."""
        told = asdict(self)
        when = told.pop("occurred_at")
        return {"event": told if when is None else {**told, "occurred_at": when.isoformat()}}

    def order(self, line: str) -> str | None:
        """The ordering key of its aggregate for this line: all lines of one share a lock."""
        if self.aggregate is None:
            return None
        thing = fitting(f"{self.aggregate_type}/{self.aggregate_id}", LONGEST_THING)
        return f"{thing}{SAME_LOCK}{line}"


def described(event_id: str, type: str, aggregate: object, data: object) -> Event:
    """A checked event, or an OptionError that says what is wrong."""
    check_text("event type", type)
    check_text("event id", event_id)
    kind, number = (None, None) if aggregate is None else _aggregate(aggregate)
    return Event(id=event_id, type=type, aggregate_type=kind, aggregate_id=number, data=data)


def check_text(name: str, value: object) -> None:
    """Text, not empty, not too long, without control characters."""
    if not isinstance(value, str):
        raise OptionError(f"{name} must be text, not {value!r}")
    check_name(name, value)


def fitting(name: str, length: int = LENGTHS["key"]) -> str:
    """The name; or its hash, if it is too long or not every database can store it."""
    if len(name) <= length and not FORBIDDEN.search(name):
        return name
    return f"sha256:{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()}"


def _aggregate(given: object) -> tuple[str, str]:
    match given:
        case (str() as kind, str() | int() as number) if not isinstance(number, bool):
            check_text("aggregate type", kind)
            check_text("aggregate id", str(number))
            return kind, str(number)
        case _:
            raise OptionError(
                f"aggregate is a pair of its type and its id, like ('Invoice', '42'); not {given!r}"
            )
