"""What the routes of one API share. A route gets it by the type of a parameter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from tenure.access.scoped_jobs import ScopedJobs
from tenure.api.bulk_moves import Operations
from tenure.api.embedded_worker import EmbeddedWorker
from tenure.api.events import Hub
from tenure.api.findings_cache import FindingsCache
from tenure.api.kit.idempotency import Idempotency
from tenure.api.kit.identity import Reader, Writer
from tenure.api.settings import ApiSettings
from tenure.api.why_cache import WhyCache
from tenure.app import Tenure
from tenure.asgi import TickRoute
from tenure.watch.metrics import Metrics
from tenure.worker import Worker
from tenure.worker.settings import WorkerSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """One per API, for as long as it lives."""

    engine: Tenure
    settings: ApiSettings
    worker: EmbeddedWorker
    operations: Operations
    idempotency: Idempotency
    hub: Hub
    metrics: Metrics
    why_cache: WhyCache
    findings: FindingsCache
    tick: TickRoute | None

    @classmethod
    def over(cls, engine: Tenure, settings: ApiSettings, worker: Worker | None) -> Service:
        """Create everything; start nothing."""
        return cls(
            engine=engine,
            settings=settings,
            worker=EmbeddedWorker(engine, worker),
            operations=Operations(engine),
            idempotency=Idempotency(engine),
            hub=Hub(engine, seconds=settings.events_seconds, most=settings.events_clients),
            metrics=Metrics.of(engine),
            why_cache=WhyCache(engine),
            findings=FindingsCache(engine),
            tick=tick_route(engine),
        )


def tick_route(engine: Tenure) -> TickRoute | None:
    """The tick route, if a service token is set and the app has handlers."""
    settings = WorkerSettings()
    if settings.api_service_token is None or not engine.handlers.kinds:
        return None
    return TickRoute(engine, settings=settings)


def service_of(request: Request) -> Service:
    """The service of a request. Hot routes call it: a dependency costs as much as a query."""
    found: Service = request.app.state.service
    return found


async def serving(request: Request) -> Service:
    """The same as a dependency. Async, because FastAPI runs a plain function in a thread."""
    return service_of(request)


async def engine_of(request: Request) -> Tenure:
    """The engine as a dependency."""
    return service_of(request).engine


async def readable(request: Request, caller: Reader) -> ScopedJobs:
    """The jobs that this caller may see."""
    return caller.jobs(service_of(request).engine)


async def writable(request: Request, caller: Writer) -> ScopedJobs:
    """The jobs that this caller may add and move."""
    return caller.jobs(service_of(request).engine)


Serving = Annotated[Service, Depends(serving)]
Engine = Annotated[Tenure, Depends(engine_of)]
Readable = Annotated[ScopedJobs, Depends(readable)]
Writable = Annotated[ScopedJobs, Depends(writable)]
