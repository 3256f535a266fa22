"""What `tenure doctor` finds out: how bad it is, the fact, and what to do next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any


class Level(IntEnum):
    """A warning is worth a look; a problem keeps jobs from running as they should."""

    OK = 0
    WARNING = 1
    PROBLEM = 2

    @property
    def word(self) -> str:
        """For programs."""
        return self.name.lower()


@dataclass(frozen=True, slots=True, kw_only=True)
class Remedy:
    """One way to mend it: a request to send to the API, or a screen of the dashboard to open.

    `danger`: it cannot be undone.
    """

    label: str
    method: str | None = None
    path: str | None = None
    body: Mapping[str, Any] | None = None
    screen: str | None = None
    danger: bool = False


@dataclass(frozen=True, slots=True)
class Finding:
    """One fact; `figures` and `remedies` are for programs."""

    level: Level
    subject: str
    fact: str
    todo: str = ""
    figures: Mapping[str, Any] = field(default_factory=dict)
    remedies: Sequence[Remedy] = ()

    def to_dict(self) -> dict[str, Any]:
        """For `--json`."""
        return {
            "level": self.level.word,
            "check": self.subject,
            "fact": self.fact,
            "next": self.todo or None,
            "figures": dict(self.figures) or None,
        }
