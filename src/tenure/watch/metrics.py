"""An app's metrics for Prometheus: its own registry, fed by its signals, shown at `/metrics`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from inspect import isawaitable
from ipaddress import ip_address
from typing import Any

from prometheus_client import CollectorRegistry, GCCollector, PlatformCollector, ProcessCollector
from prometheus_client.core import Metric
from prometheus_client.exposition import choose_encoder
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from tenure.app import Tenure
from tenure.asgi.messages import PROBLEM, problem_document
from tenure.watch.fleet import Fleet
from tenure.watch.metric_families import with_features
from tenure.watch.poller import Poller
from tenure.watch.runs import Runs
from tenure.watch.samples import Samples
from tenure.watch.settings import WatchSettings
from tenure.watch.store import Services, StoreTimes

METRICS = "metrics"
PATH = "/metrics"
Guard = Callable[[Request], Any]
"""Checks a request for metrics, sync or async. A Response that it returns is sent instead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """Statistics of the worker in this process, since it started."""

    running: bool
    processed: int
    succeeded: int
    failed: int
    retries: int
    queue_depth: int | None
    in_flight: int
    last_poll_at: datetime | None
    uptime_seconds: float


class Metrics:
    """The metrics of one app, counted from construction. Use `Metrics.of(app)` to share them."""

    def __init__(self, app: Tenure, settings: WatchSettings | None = None) -> None:
        settings = settings or WatchSettings()
        self.registry = CollectorRegistry()
        self.runs = Runs(app.handlers)
        self.poller = Poller()
        self.fleet = Fleet(app)
        self._features = app.features
        self._store_times = StoreTimes()
        self._services = Services()
        app.signals.subscribe(self.runs.settled, "jobs.settled")
        app.signals.subscribe(self.runs.ended, "job.ended")
        self.poller.listen(app.signals)
        self._services.listen(app.signals)
        app.store.measure(self._store_times.hear)
        self.registry.register(self)
        for collector in (ProcessCollector, PlatformCollector, GCCollector):
            collector(registry=self.registry)

    @classmethod
    def of(cls, app: Tenure, settings: WatchSettings | None = None) -> Metrics:
        """The metrics of this app; made by the first call."""
        found: Metrics = app.watchers.get(METRICS) or cls(app, settings)
        app.watchers[METRICS] = found
        return found

    def describe(self) -> list[Metric]:
        """Called at registration. Empty, so that registering does not read the database."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Collect the metrics of the engine and of its features."""
        features = list(self._features)
        samples = Samples(with_features(features))
        for part in (self.runs, self.poller, self._store_times, self._services, self.fleet):
            part.sample(samples)
        for feature in features:
            for metric in feature.metrics:
                metric.sample(samples)
        yield from samples

    def stats(self) -> Stats:
        """For `GET /worker/stats`."""
        look, uptime, polled = (
            self.fleet.look(),
            self.poller.uptime_seconds,
            self.poller.last_poll_at,
        )
        final = ("succeeded", "failed", "dead", "canceled", "not_found", "skipped")
        return Stats(
            running=uptime is not None,
            processed=self.runs.count(*final),
            succeeded=self.runs.count("succeeded"),
            failed=self.runs.count("failed", "dead"),
            retries=self.runs.count("retried"),
            queue_depth=None if look is None else look.queued,
            in_flight=self.poller.in_flight,
            last_poll_at=None if polled is None else datetime.fromtimestamp(polled, UTC),
            uptime_seconds=uptime or 0.0,
        )

    def exposition(self, accept: str) -> tuple[bytes, str]:
        """The text of a scrape and its content type, in the format that `accept` asks for."""
        encode, content_type = choose_encoder(accept)
        return encode(self.registry), content_type


def install_metrics(
    api: Starlette, app: Tenure, *, guard: Guard | None = None, path: str = PATH
) -> Metrics:
    """Show the app's metrics at `/metrics` of a FastAPI or Starlette app.

    `guard` is where identity is checked: it may raise what the app has a handler for. Without one
    only this machine is answered.
    """
    metrics = Metrics.of(app)
    check = guard or only_this_machine

    async def show(request: Request) -> Response:
        """Metrics for Prometheus."""
        said = check(request)
        if isawaitable(said):
            said = await said
        if isinstance(said, Response):
            return said
        accept = request.headers.get("accept", "")
        body, content_type = await run_in_threadpool(metrics.exposition, accept)
        return Response(body, headers={"content-type": content_type, "cache-control": "no-store"})

    api.add_route(path, show, methods=["GET"], include_in_schema=False)
    return metrics


def only_this_machine(request: Request) -> Response | None:
    """Refuse requests from other machines. A request passed on by a proxy counts as one."""
    passed_on = "forwarded" in request.headers or "x-forwarded-for" in request.headers
    if request.client is not None and not passed_on and is_loopback(request.client.host):
        return None
    detail = "without identity metrics are shown to this machine alone"
    body = problem_document(403, detail, code="loopback-only")
    return JSONResponse(body, status_code=403, media_type=PROBLEM)


def is_loopback(host: str) -> bool:
    """Whether a host is this machine: `127.0.0.1`, `::1`, `localhost`."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
