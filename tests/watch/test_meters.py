"""The same metrics through OpenTelemetry's SDK, and to a real collector's address by OTLP."""

from __future__ import annotations

from typing import Any

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from tenure import Tenure
from tenure.asgi.messages import Receive, Scope, Send, answer
from tenure.testing import run_until_idle
from tenure.watch.meters import install_meters
from tenure.watch.otel import configure_otel
from tests.watch.serving import serving


def points(reader: InMemoryMetricReader) -> dict[str, list[Any]]:
    data = reader.get_metrics_data()
    assert data is not None
    return {
        metric.name: list(metric.data.data_points)
        for resource in data.resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
    }


def test_a_reader_sees_the_same_numbers(app: Tenure) -> None:
    reader = InMemoryMetricReader()
    install_meters(app, MeterProvider([reader]))
    for kind in ("well", "well", "flaky", "refused"):
        app.enqueue(kind)
    run_until_idle(app)

    seen = points(reader)
    succeeded = [p.value for p in seen["processed_total"] if p.attributes["state"] == "succeeded"]
    assert sorted(succeeded) == [1, 2]
    assert {p.attributes["attempt"]: p.value for p in seen["retries_total"]} == {"1": 1, "2": 1}
    assert [p.value for p in seen["pending_count"]] == [0]
    assert sum(p.count for p in seen["processing_duration_ms"]) == 6
    assert seen["pool_wait_ms_count"][0].value > 0


def test_the_environment_names_a_collector(app: Tenure, monkeypatch: pytest.MonkeyPatch) -> None:
    got: dict[str, bytes] = {}

    async def collector(scope: Scope, receive: Receive, send: Send) -> None:
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        got[scope["path"]] = body
        await answer(send, 200, {})

    with serving(collector) as url:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
        end = configure_otel(app)
        app.enqueue("well")
        run_until_idle(app)
        end()
    app.tracing = None

    spans = ExportTraceServiceRequest.FromString(got["/v1/traces"])
    metrics = ExportMetricsServiceRequest.FromString(got["/v1/metrics"])
    [resource] = spans.resource_spans
    assert resource.scope_spans[0].spans[0].name == "run well"
    told = {one.key: one.value.string_value for one in resource.resource.attributes}
    assert told["service.name"] == "tenure"
    names = {one.name for one in metrics.resource_metrics[0].scope_metrics[0].metrics}
    assert {"pending_count", "processed_total", "processing_duration_ms"} <= names
