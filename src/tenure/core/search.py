"""Search tokens as a filter: `kind:mail.send state:dead error:"connection refused"`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from tenure.core.errors import OptionError
from tenure.core.filter import MOST_PATHS, JobFilter, PayloadPath
from tenure.core.job import DEAD_LETTERS, OPEN_STATES, State

LONGEST = 1_000
TOKEN = re.compile(r'(?:[^\s"]|"(?:[^"\\]|\\.)*")+')
QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
ESCAPED = re.compile(r"\\(.)")
PAYLOAD = "payload."
STATE_WORDS = {"open": OPEN_STATES, "bad": DEAD_LETTERS}


@dataclass(slots=True)
class _Found:
    """What the tokens so far ask for."""

    one: dict[str, Any] = field(default_factory=dict)
    many: dict[str, list[Any]] = field(default_factory=dict)

    def only(self, name: str, word: str, value: Any) -> None:
        """A condition that can be given once."""
        if self.one.setdefault(name, value) != value:
            raise OptionError(f"{word}: is given twice; a job has one of them")

    def any_of(self, name: str, *values: Any) -> None:
        """A condition that any of its values fulfils."""
        self.many.setdefault(name, []).extend(values)


def search(text: str) -> JobFilter:
    """The filter that these tokens describe; OptionError names a token that means nothing.

    >>> search('kind:mail.send payload.order.id:42').kinds
    ('mail.send',)
    """
    if len(text) > LONGEST:
        raise OptionError(f"a search has at most {LONGEST:,} characters, not {len(text):,}")
    found = _Found()
    for name, value in _tokens(text):
        _read(found, name, value)
    many = {name: tuple(dict.fromkeys(values)) for name, values in found.many.items()}
    if len(many.get("payload", ())) > MOST_PATHS:
        raise OptionError(f"at most {MOST_PATHS} payload paths can be searched at once")
    return JobFilter(**{**found.one, **many})


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    if text.count('"') % 2 and '\\"' not in text:
        raise OptionError("a quote is not closed")
    for token in TOKEN.findall(text):
        name, colon, value = token.partition(":")
        if not colon or name.startswith('"'):
            yield "", _unquoted(token)
        else:
            yield name, _unquoted(value)


def _unquoted(text: str) -> str:
    return QUOTED.sub(lambda match: ESCAPED.sub(r"\1", match[1]), text)


def _read(found: _Found, name: str, value: str) -> None:
    if not value:
        raise OptionError(f"{name}: has no value; write {name}:VALUE")
    if name.startswith(PAYLOAD):
        found.any_of("payload", PayloadPath.of(name.removeprefix(PAYLOAD), value))
    elif name in WORDS:
        WORDS[name](found, value)
    elif not name:
        found.only("any_key", "key", value)
    else:
        raise OptionError(
            f"{name}: is not a search word; use {', '.join(WORDS)} or payload.PATH, "
            "or quote a value that contains a colon"
        )


def _state(found: _Found, value: str) -> None:
    if value in STATE_WORDS:
        found.any_of("states", *STATE_WORDS[value])
    elif value in list(State):
        found.any_of("states", State(value))
    else:
        raise OptionError(f"{value!r} is not a state; use {', '.join(State)}, open or bad")


def _many(field_name: str) -> Callable[[_Found, str], None]:
    return lambda found, value: found.any_of(field_name, value)


def _one(field_name: str, word: str) -> Callable[[_Found, str], None]:
    return lambda found, value: found.only(field_name, word, value)


WORDS: dict[str, Callable[[_Found, str], None]] = {
    "kind": _many("kinds"),
    "queue": _many("queues"),
    "state": _state,
    "tenant": _one("tenant", "tenant"),
    "user": _one("owner", "user"),
    "key": _one("any_key", "key"),
    "error": _one("error", "error"),
    "group": _one("error_group", "group"),
    "parent": _one("parent", "parent"),
    "worker": _one("worker", "worker"),
    "id": _many("ids"),
}


def both(one: JobFilter, other: JobFilter) -> JobFilter | None:
    """The filter that is met by jobs that meet both; None if no job can."""
    joined: dict[str, Any] = {}
    for name in one.__slots__:
        first, second = getattr(one, name), getattr(other, name)
        if first is None or second is None or first == second:
            joined[name] = second if first is None else first
        elif name == "payload":
            joined[name] = tuple(dict.fromkeys([*first, *second]))
        elif isinstance(first, tuple):
            joined[name] = tuple(value for value in first if value in second)
            if not joined[name]:
                return None
        elif name.endswith("_after"):
            joined[name] = max(first, second)
        elif name.endswith("_before"):
            joined[name] = min(first, second)
        else:
            return None
    return JobFilter(**joined)
