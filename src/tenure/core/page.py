"""Keyset pages: a cursor is the position after the last row shown, opaque to its user."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from tenure.core.errors import OptionError

T = TypeVar("T")
MAX_PAGE = 500


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where a page ended."""

    position: tuple[int | str, ...]

    def encode(self) -> str:
        """The text a client sends back."""
        raw = json.dumps(self.position, separators=(",", ":")).encode()
        return base64.urlsafe_b64encode(raw).decode().rstrip("=")

    @classmethod
    def decode(cls, text: str) -> Cursor:
        """Read what `encode` wrote; anything else raises OptionError."""
        try:
            raw = base64.b64decode(
                text.encode("ascii") + b"=" * (-len(text) % 4), altchars=b"-_", validate=True
            )
            position = json.loads(raw)
        except (ValueError, binascii.Error, RecursionError) as error:
            raise OptionError(f"{text[:80]!r} is not a cursor of this list") from error
        if not isinstance(position, list) or not all(_plain(part) for part in position):
            raise OptionError(f"{text[:80]!r} is not a cursor of this list")
        return cls(tuple(position))


def _plain(part: object) -> bool:
    return isinstance(part, int | str) and not isinstance(part, bool)


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Some rows, and the cursor of the next page if there is one.

    `searched` is how many rows were read if no index had the answer; not `complete`: there are more
    rows than one page may search, and the next page continues there.
    """

    rows: Sequence[T]
    next: str | None
    searched: int | None = None
    complete: bool = True
