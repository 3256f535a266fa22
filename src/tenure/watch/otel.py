"""OpenTelemetry by the environment: spans and metrics go to OTEL_EXPORTER_OTLP_ENDPOINT.

Without that address, or without the extra `traces`, nothing happens.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.util import find_spec

from tenure.app import Tenure

ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
PACKAGES = ("opentelemetry", "opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http")


def configure_otel(app: Tenure) -> Callable[[], None]:
    """Send what this app does to a collector; call the answer at the end, it sends the rest."""
    ends = []
    if wanted("TRACES") and installed():
        ends.append(_send_traces(app))
    if wanted("METRICS") and installed() and find_spec("prometheus_client") is not None:
        ends.append(_send_metrics(app))

    def end() -> None:
        for one in ends:
            one()

    return end


def wanted(what: str) -> bool:
    """There is an address for them, and nobody has switched them off."""
    address = os.environ.get(f"OTEL_EXPORTER_OTLP_{what}_ENDPOINT") or os.environ.get(ENDPOINT)
    off = os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true"
    return bool(address) and not off and os.environ.get(f"OTEL_{what}_EXPORTER", "otlp") == "otlp"


def installed() -> bool:
    """The whole extra `traces`."""
    try:
        return all(find_spec(name) is not None for name in PACKAGES)
    except ModuleNotFoundError:
        return False


def _named(app: Tenure) -> dict[str, str]:
    return {
        "service.name": os.environ.get("OTEL_SERVICE_NAME") or app.settings.app_name or "tenure"
    }


def _send_traces(app: Tenure) -> Callable[[], None]:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    from tenure.watch.traces import install_traces

    provider = TracerProvider(resource=Resource.create(_named(app)))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    install_traces(app, provider)
    return provider.shutdown


def _send_metrics(app: Tenure) -> Callable[[], None]:
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
    from opentelemetry.sdk.resources import Resource

    from tenure.watch.meters import install_meters

    reader = PeriodicExportingMetricReader(OTLPMetricExporter())
    provider = MeterProvider([reader], resource=Resource.create(_named(app)))
    install_meters(app, provider)

    def end() -> None:
        provider.shutdown()

    return end
