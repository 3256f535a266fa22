"""Spans of real runs, by the SDK's own exporter into memory."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from multiprocessing import forkserver
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from tenure import RunningJob, State, Tenure
from tenure.asgi.messages import Receive, Scope, Send, answer
from tenure.testing import run_until_idle
from tenure.watch.correlation import traceparent
from tenure.watch.otel import configure_otel
from tenure.watch.requests import Correlated
from tenure.watch.traces import install_traces
from tests.asgi.driver import request
from tests.watch import in_process

REMOTE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.fixture
def exporter() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def provider(exporter: InMemorySpanExporter) -> TracerProvider:
    made = TracerProvider()
    made.add_span_processor(SimpleSpanProcessor(exporter))
    return made


def named(exporter: InMemorySpanExporter, name: str) -> list[ReadableSpan]:
    return [span for span in exporter.get_finished_spans() if span.name == name]


def facts(span: ReadableSpan) -> Mapping[str, Any]:
    return span.attributes or {}


def is_child(span: ReadableSpan, parent: ReadableSpan) -> bool:
    there, above = span.parent, parent.context
    return there is not None and above is not None and (
        (there.trace_id, there.span_id) == (above.trace_id, above.span_id)
    )  # fmt: skip


def test_a_run_is_a_child_of_the_span_that_enqueued_it(
    app: Tenure, exporter: InMemorySpanExporter, provider: TracerProvider
) -> None:
    install_traces(app, provider)
    with provider.get_tracer("shop").start_as_current_span("order"):
        app.enqueue("well", correlation_id="order-42", tenant="acme")
    run_until_idle(app)

    [order], [run] = named(exporter, "order"), named(exporter, "run well")
    assert is_child(run, order)
    assert (run.kind, run.status.status_code) == (SpanKind.CONSUMER, StatusCode.UNSET)
    assert {
        "messaging.system": "tenure",
        "messaging.destination.name": "default",
        "messaging.message.id": "1",
        "messaging.message.conversation_id": "order-42",
        "tenure.kind": "well",
        "tenure.attempt": 1,
        "tenure.tenant": "acme",
        "tenure.state": "succeeded",
    }.items() <= facts(run).items()


def test_every_attempt_is_a_span_of_the_same_trace(
    app: Tenure, exporter: InMemorySpanExporter, provider: TracerProvider
) -> None:
    install_traces(app, provider)
    app.enqueue("flaky", trace=REMOTE)
    run_until_idle(app)

    runs = named(exporter, "run flaky")
    assert [facts(run)["tenure.attempt"] for run in runs] == [1, 2, 3]
    assert [run.status.status_code.name for run in runs] == ["ERROR", "ERROR", "UNSET"]
    assert {f"{run.context.trace_id:032x}" for run in runs if run.context} == {REMOTE[3:35]}
    assert [event.name for event in runs[0].events] == ["exception"]
    assert (runs[0].events[0].attributes or {})["exception.type"] == "ValueError"


@pytest.mark.parametrize("is_async", [True, False])
def test_spans_and_jobs_of_a_handler_belong_to_its_run(
    app: Tenure, exporter: InMemorySpanExporter, provider: TracerProvider, is_async: bool
) -> None:
    install_traces(app, provider)
    tracer, said = provider.get_tracer("shop"), []

    @app.job("async")
    async def asynchronous(job: RunningJob) -> None:
        said.append(traceparent())
        with tracer.start_as_current_span("inner"):
            await app.enqueue_async("well")

    @app.job("plain")
    def plain(job: RunningJob) -> None:
        said.append(traceparent())
        with tracer.start_as_current_span("inner"):
            app.enqueue("well")

    (asynchronous if is_async else plain).enqueue()
    run_until_idle(app)

    [outer] = named(exporter, "run async") + named(exporter, "run plain")
    [inner], [follow_up] = named(exporter, "inner"), named(exporter, "run well")
    assert is_child(inner, outer)
    assert is_child(follow_up, inner)
    assert outer.context is not None
    ids = f"{outer.context.trace_id:032x}-{outer.context.span_id:016x}"
    assert [str(one)[3:52] for one in said] == [ids]
    assert not trace.get_current_span().get_span_context().is_valid


def test_jobs_that_a_process_enqueues_belong_to_its_run(
    exporter: InMemorySpanExporter, provider: TracerProvider, tmp_path: Any, monkeypatch: Any
) -> None:
    monkeypatch.setenv("TENURE_DATABASE_URL", f"sqlite:///{tmp_path / 'jobs.db'}")
    # One that another test has started gives its children that test's environment.
    forkserver._forkserver._stop()  # type: ignore[attr-defined]
    app = in_process.make()
    install_traces(app, provider)
    app.enqueue("in.process", trace=REMOTE)
    run_until_idle(app)

    [run], [child] = named(exporter, "run in.process"), named(exporter, "run from.process")
    assert is_child(child, run)
    app.close()


def test_a_run_of_a_bad_payload_and_one_that_settles_itself_are_spans_too(
    app: Tenure, exporter: InMemorySpanExporter, provider: TracerProvider
) -> None:
    install_traces(app, provider)
    app.enqueue("well", {"unknown": 1})
    app.enqueue("self_settled")
    run_until_idle(app)

    [bad], [own] = named(exporter, "run well"), named(exporter, "run self_settled")
    assert (facts(bad)["tenure.state"], bad.status.status_code) == ("failed", StatusCode.ERROR)
    assert facts(own)["tenure.state"] == "succeeded"


def test_a_request_and_its_job_are_one_trace(
    app: Tenure, exporter: InMemorySpanExporter, provider: TracerProvider
) -> None:
    install_traces(app, provider)

    async def api(scope: Scope, receive: Receive, send: Send) -> None:
        ref = await app.enqueue_async("well")
        await answer(send, 503, {"id": ref.id})

    request(Correlated(api, app), headers={"traceparent": REMOTE, "x-correlation-id": "order-42"})
    run_until_idle(app)

    [served], [run] = named(exporter, "POST"), named(exporter, "run well")
    assert is_child(run, served)
    assert served.parent is not None and f"{served.parent.span_id:016x}" == REMOTE[36:52]
    assert (served.kind, served.status.status_code) == (SpanKind.SERVER, StatusCode.ERROR)
    assert facts(served)["http.response.status_code"] == 503


@pytest.mark.parametrize("broken", ["", "00-nonsense", "00-" + "0" * 32 + "-" + "0" * 16 + "-00"])
def test_a_trace_that_is_none_begins_a_new_one(
    app: Tenure, exporter: InMemorySpanExporter, provider: TracerProvider, broken: str
) -> None:
    install_traces(app, provider)
    app.enqueue("well", trace=broken)
    run_until_idle(app)

    [run] = named(exporter, "run well")
    assert run.parent is None


class Broken(SpanProcessor):
    """Somebody's processor that raises."""

    def on_start(self, *_: Any, **__: Any) -> None:
        raise RuntimeError("no")

    def on_end(self, span: ReadableSpan) -> None:
        raise RuntimeError("no")


def test_a_broken_processor_does_not_break_the_work(app: Tenure) -> None:
    provider = TracerProvider()
    provider.add_span_processor(Broken())
    install_traces(app, provider)
    ref = app.enqueue("well")
    run_until_idle(app)

    assert app.get(ref).state is State.SUCCEEDED


def test_without_an_address_nothing_happens(app: Tenure, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OTEL_EXPORTER_OTLP_ENDPOINT", raising=False)
    configure_otel(app)()

    assert app.tracing is None


def test_without_the_packages_nothing_happens(app: Tenure, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk", None)
    configure_otel(app)()

    assert app.tracing is None
