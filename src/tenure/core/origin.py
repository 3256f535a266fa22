"""Where a call comes from: the correlation id and the trace of the request that is served here."""

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
    """One run as a trace sees it."""

    def enter(self) -> object:
        """Make it the current one of this context; the answer is for `leave`."""
        ...

    def leave(self, entered: object) -> None:
        """As it was before."""
        ...

    def end(self, settlement: Any) -> None:
        """Over; None where nothing was written."""
        ...


class Tracing(Protocol):
    """What an app asks of its traces, where it has some."""

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
    """As W3C Trace Context has it."""
    return TRACEPARENT.fullmatch(text) is not None
