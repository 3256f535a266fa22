"""Correlation ids: from a request, through the jobs it enqueues, to every call they make."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar
from uuid import uuid4

from tenure.core.errors import OptionError
from tenure.core.origin import Origin, is_correlation_id, is_traceparent, origin
from tenure.jobs.running_job import current_job

if TYPE_CHECKING:
    import httpx

HEADER = "x-correlation-id"
TRACEPARENT = "traceparent"
C = TypeVar("C", "httpx.Client", "httpx.AsyncClient")


def correlation_id() -> str | None:
    """The correlation id of the running job, or of the request being served; None outside both."""
    here, job = origin.get(), current_job.get()
    if here is not None and here.inside is job and here.correlation_id is not None:
        return here.correlation_id
    return None if job is None else job.claimed.correlation_id


def traceparent() -> str | None:
    """The W3C traceparent to send with a call from here; None without a trace."""
    here, job = origin.get(), current_job.get()
    if job is not None and job.app.tracing is not None and (trace := job.app.tracing.here()):
        return trace
    if here is not None and here.inside is job and here.trace is not None:
        return here.trace
    return None if job is None else job.claimed.trace


@contextmanager
def correlated(correlation: str | None = None, trace: str | None = None) -> Iterator[str]:
    """Give the jobs enqueued in this block a correlation id. Without one, a new id is made.

    >>> with correlated("order-42") as found:
    ...     print(found, correlation_id())
    order-42 order-42
    """
    if correlation is not None and not is_correlation_id(correlation):
        raise OptionError(f"{correlation[:40]!r} cannot be a correlation id")
    if trace is not None and not is_traceparent(trace):
        raise OptionError(f"{trace[:60]!r} is not a W3C traceparent")
    chosen = correlation or str(uuid4())
    token = origin.set(Origin(chosen, trace, current_job.get()))
    try:
        yield chosen
    finally:
        origin.reset(token)


def with_correlation(client: C) -> C:
    """Add correlation headers to the requests of an httpx client. Headers already set are kept.

    >>> client = with_correlation(httpx.Client())          # doctest: +SKIP
    """
    hooks = client.event_hooks
    if hasattr(client, "aclose"):
        hooks["request"].append(_name_async)
    else:
        hooks["request"].append(_name)
    client.event_hooks = hooks
    return client


def _name(request: httpx.Request) -> None:
    for header, value in ((HEADER, correlation_id()), (TRACEPARENT, traceparent())):
        if value is not None and header not in request.headers and value.isascii():
            request.headers[header] = value


async def _name_async(request: httpx.Request) -> None:
    _name(request)
