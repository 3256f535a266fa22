"""Types of events, and patterns that match several: `invoice.*` and `*`.

A type has segments between dots. A `*` at the end stands for one or more of them: `invoice.*`
matches `invoice.paid` and `invoice.line.added`, not `invoice`. `*` alone matches every type.
"""

from __future__ import annotations

from collections.abc import Collection

from tenure.core.errors import OptionError
from tenure.features.outbox.event import check_text

EVERYTHING = "*"
REST = ".*"


def is_pattern(type: str) -> bool:
    """Whether it may match several types."""
    return "*" in type


def check_pattern(type: object) -> None:
    """A type, or a pattern that is written as it should be."""
    check_text("event type", type)
    text = str(type)
    if not is_pattern(text) or text == EVERYTHING:
        return
    first = text.removesuffix(REST)
    if first == text or "*" in first or not all(first.split(".")):
        raise OptionError(
            f"the pattern {text!r} is not valid: write '*' for every type, or '*' as the last "
            "segment, as in 'invoice.*'"
        )


def check_single(type: object) -> None:
    """The type of one event, which must not look like a pattern."""
    if isinstance(type, str) and is_pattern(type):
        raise OptionError(f"an event has one type, not the pattern {type!r}")


def matches(pattern: str, type: str) -> bool:
    """Whether an event of this type belongs to the pattern, or is of just that type."""
    return pattern in (type, EVERYTHING) or (
        pattern.endswith(REST) and type.startswith(pattern[:-1]) and len(type) >= len(pattern)
    )


def overlap(one: str, other: str) -> bool:
    """Whether some type may match both."""
    return matches(one, other) or matches(other, one)


def candidates(type: str) -> list[str]:
    """What matches this type: itself, then patterns from the most specific to `*`."""
    found, rest = [type], type
    while "." in rest:
        rest = rest.rpartition(".")[0]
        found.append(rest + REST)
    return [*found, EVERYTHING]


def check_known(type: str, types: Collection[str] | None) -> None:
    """If the outbox declares its types, whatever matches none of them is a mistake."""
    if types is None or any(matches(type, one) for one in types):
        return
    what = "matches none of" if is_pattern(type) else "is not one of"
    known = ", ".join(sorted(types)) or "none"
    raise OptionError(f"{type!r} {what} the event types that this outbox declares: {known}")
