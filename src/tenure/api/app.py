"""`create_api`: one FastAPI app over one engine and its features."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version

from fastapi import Depends, FastAPI
from starlette.concurrency import run_in_threadpool

from tenure.api.kit.guards import BoundedBody, HeadRequests, RequestIds, UnexpectedErrors
from tenure.api.kit.guards.rates import Rates, limited
from tenure.api.kit.guards.streamed import StreamedRoutes
from tenure.api.kit.identity import install_identity
from tenure.api.kit.problems import add_problems
from tenure.api.kit.service import Service
from tenure.api.openapi import add_document
from tenure.api.routes import KNOWN, PUBLIC
from tenure.api.settings import ApiSettings
from tenure.app import Tenure
from tenure.dashboard.screens import add_screens
from tenure.feature.ask import public_routers_of, routers_of
from tenure.watch.metric_families import with_features
from tenure.watch.requests import Correlated
from tenure.worker import Worker

ABOUT = "Durable jobs on the database you already have: enqueue, watch, retry, operate."


def create_api(
    engine: Tenure, *, settings: ApiSettings | None = None, worker: Worker | None = None
) -> FastAPI:
    """An ASGI app. A worker that is given starts and stops with it.

    >>> api = create_api(Tenure("sqlite:///tenure.db"))        # doctest: +SKIP
    """
    settings = settings or ApiSettings()
    api = FastAPI(
        title="Tenure",
        version=version("tenure"),
        description=ABOUT,
        lifespan=_live,
        docs_url=None,
        redoc_url=None,
    )
    engine.features.load()
    with_features(engine.features)  # a metric's name that is taken is an error now, not at scrapes
    api.state.service = Service.over(engine, settings, worker)
    add_problems(api, engine.features)
    _add_guards(api, engine, settings)
    _add_routes(api, engine, settings)
    install_identity(api, engine)
    add_document(api)
    return api


def _add_routes(api: FastAPI, engine: Tenure, settings: ApiSettings) -> None:
    limits = [Depends(limited)] if settings.requests_per_minute else []
    api.state.rates = Rates(settings.requests_per_minute)
    for router in KNOWN:
        api.include_router(router, dependencies=limits)
    for feature in engine.features:
        for router in routers_of(feature):
            api.include_router(router, dependencies=limits)
        for router in public_routers_of(feature):
            api.include_router(router)
        add_screens(api, feature)
    for router in PUBLIC:
        api.include_router(router)


def _add_guards(api: FastAPI, engine: Tenure, settings: ApiSettings) -> None:
    """The last one added is the first one passed."""
    api.add_middleware(HeadRequests)
    api.add_middleware(
        BoundedBody,
        limit=settings.body_limit_bytes,
        depth=settings.depth_limit,
        streams=StreamedRoutes(engine),
    )
    api.add_middleware(UnexpectedErrors, signals=engine.signals)
    api.add_middleware(Correlated, jobs=engine)
    api.add_middleware(RequestIds)


@asynccontextmanager
async def _live(api: FastAPI) -> AsyncIterator[None]:
    service: Service = api.state.service
    async with service.worker:
        service.operations.start()
        try:
            yield
        finally:
            await service.hub.close()
            await run_in_threadpool(service.operations.close)
