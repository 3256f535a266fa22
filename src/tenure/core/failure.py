"""An error as data, as a job's history keeps it. Every part of it is bounded."""

from __future__ import annotations

import json
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any

MESSAGE_LIMIT = 2_000
CODE_LIMIT = 100
TRACEBACK_LIMIT = 8_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Type, message, code and capped traceback of an error.

    `bound` says how often its class has failed the job (`NotFound 2 of 3`), if the class has a
    bound of its own; `counts` has that of every such class.
    """

    type: str
    message: str = ""
    code: str | None = None
    traceback: str | None = None
    bound: str | None = None
    counts: Mapping[str, int] | None = None

    @classmethod
    def of(cls, error: BaseException) -> Failure:
        """Describe a caught exception; one that crossed a process brings its own description."""
        carried = getattr(error, "failure", None)
        if isinstance(carried, cls):
            return carried
        code = getattr(error, "code", None)
        return cls(
            type=type(error).__qualname__,
            message=_storable(_text(error))[:MESSAGE_LIMIT],
            code=_storable(code)[:CODE_LIMIT] if isinstance(code, str) else None,
            traceback=_tail(error),
        )

    def to_json(self) -> str:
        """The form that is stored."""
        return json.dumps(self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """The form that is shown."""
        shown: dict[str, Any] = {
            "type": self.type,
            "message": self.message,
            "code": self.code,
            "traceback": self.traceback,
        }
        if self.counts is not None:
            shown |= {"bound": self.bound, "counts": dict(self.counts)}
        return shown


def _text(error: BaseException) -> str:
    """The message of an exception, whose own `__str__` may fail."""
    try:
        return str(error)
    except Exception as second:
        return f"<{type(second).__name__} while it was described>"


def _tail(error: BaseException) -> str:
    """The traceback from the handler's own frames on, cut at the start: the end tells more."""
    frames = error.__traceback__
    while frames is not None and _ours(frames):
        frames = frames.tb_next
    lines = traceback.format_exception(type(error), error, frames or error.__traceback__)
    text = _storable("".join(lines))
    return text if len(text) <= TRACEBACK_LIMIT else "… " + text[-TRACEBACK_LIMIT:]


def _ours(frames: TracebackType) -> bool:
    return str(frames.tb_frame.f_globals.get("__name__", "")).startswith("tenure.worker")


def _storable(text: str) -> str:
    """Text that every database can store: no lone surrogates, no NUL."""
    return text.encode("utf-8", "backslashreplace").decode().replace("\x00", "\\x00")
