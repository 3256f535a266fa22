"""OpenTelemetry spans: one for each run, in the trace of whoever enqueued the job."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from opentelemetry import context as contexts
from opentelemetry import trace as tracing
from opentelemetry.context import Context
from opentelemetry.trace import (
    INVALID_SPAN,
    NonRecordingSpan,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    TraceFlags,
    TracerProvider,
)

from tenure.app import Tenure
from tenure.asgi.messages import Scope
from tenure.core.job import State
from tenure.core.lease import ClaimedJob
from tenure.core.origin import is_traceparent
from tenure.core.settlement import Settlement
from tenure.watch.text import clean

BAD = (State.FAILED, State.DEAD)
BROKEN = ("error", "timeout")


def install_traces(app: Tenure, provider: TracerProvider | None = None) -> Traces:
    """Trace the runs of an app, and let its jobs carry the trace that they were enqueued in.

    Without a provider the one that the program has set counts; where it set none, nothing is kept.
    """
    app.tracing = traces = Traces(provider)
    return traces


class RunSpan:
    """See `tenure.core.origin.Span`."""

    __slots__ = ("_span",)

    def __init__(self, span: tracing.Span) -> None:
        self._span = span

    def enter(self) -> object:
        """Spans of the handler are children of this one."""
        return contexts.attach(tracing.set_span_in_context(self._span))

    def leave(self, entered: Any) -> None:
        """As it was before."""
        contexts.detach(entered)

    def end(self, settlement: Settlement | None) -> None:
        """With what was decided; an attempt that failed is an error, also where it is repeated."""
        with suppress(Exception):  # somebody's span processor: watching must not break the work
            if settlement is None:
                self._span.set_attribute("tenure.state", "let_go")
            else:
                self._describe(settlement)
            self._span.end()

    def _describe(self, settlement: Settlement) -> None:
        span, failure = self._span, settlement.failure
        span.set_attribute("tenure.state", str(settlement.state))
        if settlement.entry is not None:
            span.set_attribute("tenure.entry", settlement.entry)
        if failure is not None:
            told = {"exception.type": failure.type, "exception.message": clean(failure.message)}
            span.add_event("exception", told)
        if settlement.state in BAD or settlement.entry in BROKEN:
            span.set_status(Status(StatusCode.ERROR, None if failure is None else failure.type))


class Traces:
    """See `tenure.core.origin.Tracing`."""

    def __init__(self, provider: TracerProvider | None = None) -> None:
        self._tracer = tracing.get_tracer("tenure", tracer_provider=provider)

    def here(self) -> str | None:
        """The current span, so that a job can name it."""
        found = tracing.get_current_span().get_span_context()
        if not found.is_valid:
            return None
        return f"00-{found.trace_id:032x}-{found.span_id:016x}-{found.trace_flags:02x}"

    def run(self, job: ClaimedJob) -> RunSpan:
        """A child of the span that enqueued it; each attempt has its own."""
        attributes: dict[str, str | int] = {
            "messaging.system": "tenure",
            "messaging.operation.type": "process",
            "messaging.destination.name": job.queue,
            "messaging.message.id": job.id,
            "tenure.kind": job.kind,
            "tenure.attempt": job.attempt,
            "tenure.fence": job.lease.fence,
            "tenure.tenant": job.tenant,
        }
        if job.correlation_id is not None:
            attributes["messaging.message.conversation_id"] = job.correlation_id
        try:
            span = self._tracer.start_span(
                f"run {job.kind}",
                context=parent_of(job.trace),
                kind=SpanKind.CONSUMER,
                attributes=attributes,
            )
        except Exception:
            span = INVALID_SPAN
        return RunSpan(span)

    @contextmanager
    def request(
        self, scope: Scope, trace: str | None, correlation: str
    ) -> Iterator[Callable[[int], None]]:
        """A span around one request; call what is yielded with the status of its answer."""
        method = str(scope.get("method", "WEBSOCKET"))
        attributes = {"http.request.method": method, "tenure.correlation_id": correlation}
        with self._tracer.start_as_current_span(
            method, context=parent_of(trace), kind=SpanKind.SERVER, attributes=attributes
        ) as span:

            def answered(status: int) -> None:
                span.set_attribute("http.response.status_code", status)
                route = getattr(scope.get("route"), "path", None)
                if route is not None:  # the pattern, not the path: that may hold anything
                    span.set_attribute("http.route", route)
                    span.update_name(f"{method} {route}")
                if status >= 500:
                    span.set_status(Status(StatusCode.ERROR))

            yield answered


def parent_of(traceparent: str | None) -> Context:
    """The span over there as a context to begin in; an empty one where there is none."""
    if traceparent is None or not is_traceparent(traceparent):
        return Context()
    _, trace_id, span_id, flags = traceparent.split("-")
    there = SpanContext(
        int(trace_id, 16), int(span_id, 16), is_remote=True, trace_flags=TraceFlags(int(flags, 16))
    )
    return tracing.set_span_in_context(NonRecordingSpan(there), Context())
