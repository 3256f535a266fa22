"""The origin of a call: correlation id and trace of the request that is being served."""

from __future__ import annotations

import re
from contextvars import ContextVar
from typing import Any, NamedTuple, Protocol

CORRELATION_ID = re.compile("[!-~]{1,200}")
TRACEPARENT = re.compile(
    "(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}"
)


class Origin(NamedTuple):
    """What jobs that are enqueued from here are told. `inside` is the run that it was bound in:
    a worker that was started by a request does not belong to that request.
    """

    correlation_id: str | None = None
    trace: str | None = None
    inside: Any = None


class Span(Protocol):
    """The span of one run."""

    def enter(self) -> object:
        """Make it the current span of this context; pass the answer to `leave`."""
        ...

    def leave(self, entered: object) -> None:
        """Restore the span before it."""
        ...

    def end(self, settlement: Any) -> None:
        """End the span; None if nothing was written."""
        ...


class Tracing(Protocol):
    """What an app needs from its tracing library."""

    def here(self) -> str | None:
        """The current span as a W3C traceparent."""
        ...

    def run(self, job: Any) -> Span:
        """A span for the run of a claimed job."""
        ...


origin: ContextVar[Origin | None] = ContextVar("tenure_origin", default=None)


def is_correlation_id(text: str) -> bool:
    """Visible ASCII without spaces: nothing that could break a header or a line."""
    return CORRELATION_ID.fullmatch(text) is not None


def is_traceparent(text: str) -> bool:
    """Whether it is a valid traceparent of W3C Trace Context."""
    return TRACEPARENT.fullmatch(text) is not None
