"""Public ids are opaque strings. Here, and only below this package, they become row numbers."""

from __future__ import annotations

from tenure.core.errors import OptionError

MOST_DIGITS = 18


def row_id(public: str) -> int | None:
    """The number behind a public id; None if no row can have it."""
    if not (public.isascii() and public.isdigit()) or len(public) > MOST_DIGITS:
        return None
    return int(public)


def log_line_id(public: str | None) -> int:
    """The number behind the id of a log line; 0, which precedes every line, for None."""
    number = 0 if public is None else row_id(public)
    if number is None:
        raise OptionError(f"{public!r} is not the id of a log line")
    return number


def chunk_position(after: str | None) -> int:
    """Where the next chunk of a move or a purge starts, as the chunk before it answered."""
    found = 0 if after is None else row_id(after)
    if found is None:
        raise OptionError(f"{after!r} is not a position in this move")
    return found
