"""A subscription: which events a subscriber gets, and where and how its jobs run."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from pydantic.alias_generators import to_camel

from tenure.core.errors import OptionError
from tenure.core.rules.order import OnFailure
from tenure.features.outbox.event import Event, check_text

KIND = "outbox:"
SUBSCRIBER = re.compile(r"[\w.-]+")
WRITTEN = "write it as: def name(job: RunningJob, event: Event)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscription:
    """As it is kept in the database, so that whoever dispatches an event knows every subscriber.

    An inactive one gets no more events; it is kept so that those it had are still seen.
    """

    type: str
    subscriber: str
    queue: str
    priority: int
    max_attempts: int
    ordered: bool = False
    on_failure: str = OnFailure.BLOCK
    active: bool = True

    @property
    def kind(self) -> str:
        """Of its jobs."""
        return kind_of(self.type, self.subscriber)

    def to_dict(self) -> dict[str, Any]:
        """For programs: `maxAttempts`, `onFailure` …"""
        told = {**asdict(self), "kind": self.kind}
        return {to_camel(name): value for name, value in told.items()}

    def to_data(self) -> dict[str, Any]:
        """Within the record of its type."""
        told = asdict(self)
        del told["type"], told["subscriber"]
        return told

    @classmethod
    def of(cls, type: str, subscriber: str, data: Mapping[str, Any]) -> Subscription:
        """From a record; what a later version adds there is left out."""
        known = {name: data[name] for name in cls.__dataclass_fields__ if name in data}
        return cls(type=type, subscriber=subscriber, **known)


def kind_of(type: str, subscriber: str) -> str:
    """The kind of the jobs of this subscriber for events of this type."""
    return f"{KIND}{type}:{subscriber}"


def named(kind: str) -> tuple[str, str]:
    """Type and subscriber of such a kind."""
    type, _, subscriber = kind.removeprefix(KIND).rpartition(":")
    return type, subscriber


def check_subscriber(name: object) -> None:
    """It is part of a kind."""
    check_text("subscriber", name)
    if not SUBSCRIBER.fullmatch(str(name)):
        raise OptionError(f"subscriber {name!r} may have letters, digits, '_', '-' and '.' only")


def check_order(ordered: bool, on_failure: str | None) -> str:
    """The rule for those behind a delivery that failed for good."""
    if on_failure is None:
        return OnFailure.BLOCK
    if on_failure not in list(OnFailure):
        raise OptionError(f"on_failure {on_failure!r} is not one of {', '.join(OnFailure)}")
    if not ordered:
        raise OptionError("on_failure is about order: give ordered=True too")
    return str(on_failure)


def check_function(function: Callable[..., Any]) -> None:
    """A subscriber takes the job and the event, nothing else."""
    name = getattr(function, "__name__", repr(function))
    if not callable(function):
        raise OptionError(f"{name} cannot be a subscriber; {WRITTEN}")
    taken = list(inspect.signature(function, eval_str=True).parameters.values())
    if len(taken) != 2 or taken[1].name != "event" or taken[1].annotation is not Event:
        raise OptionError(f"{name} cannot be a subscriber; {WRITTEN}")
