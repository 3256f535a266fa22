"""A log sentence: what is said about a signal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tenure.core.lease import ClaimedJob

Facts = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Sentence:
    """What to say; `tone` is debug, info, warning or error.

    With a `subject` it is said once, and again only after a minute without it; if it is `lasting`,
    once a minute.
    """

    tone: str
    text: str
    subject: str | None = None
    job: ClaimedJob | None = None
    facts: Facts = field(default_factory=dict)
    signal: str = ""
    lasting: bool = False


Telling = Callable[[Facts], Iterator[Sentence]]
"""From the facts of a signal to the sentences that it is worth."""
