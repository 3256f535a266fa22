"""A small API with one route for each need, on a real server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse

from tenure import JobNotFound, Tenure
from tenure.access import IdentitySettings
from tenure.api.kit.identity import (
    Admin,
    MetricsReader,
    Reader,
    SiteAdmin,
    SiteReader,
    Writer,
    guard_metrics,
    install_identity,
)
from tenure.core.errors import (
    TenureError,
)
from tenure.core.refusals import (
    Forbidden,
    IdentityUnavailable,
    Unauthenticated,
)
from tests.api.identity.server import serve

STATUS: dict[type[TenureError], int] = {
    Unauthenticated: 401,
    Forbidden: 403,
    JobNotFound: 404,
    IdentityUnavailable: 503,
}
Open = Callable[..., httpx.Client]


@pytest.fixture
def open_api(engine: Tenure) -> Iterator[Open]:
    """Serve the small API; answers a client of it."""
    with ExitStack() as stack:

        def opened(settings: IdentitySettings | None = None, **more: Any) -> httpx.Client:
            address = stack.enter_context(serve(small_api(engine, settings, **more)))
            return stack.enter_context(httpx.Client(base_url=address, timeout=30))

        yield opened


@pytest.fixture
def client(open_api: Open) -> httpx.Client:
    """Of an API with nothing configured."""
    return open_api()


def small_api(engine: Tenure, settings: IdentitySettings | None = None, **more: Any) -> FastAPI:
    """A route for each need."""
    api = FastAPI(openapi_url=None)
    install_identity(api, engine, settings or IdentitySettings(), **more)
    for kind in STATUS:
        api.add_exception_handler(kind, _problem)

    @api.get("/read")
    def read(caller: Reader) -> dict[str, Any]:
        scope = caller.scope
        return {"name": caller.name, "tenant": scope.tenant, "owner": scope.owner}

    @api.post("/write")
    def write(caller: Writer) -> str:
        return caller.name

    @api.post("/admin")
    def admin(caller: Admin) -> str:
        return caller.name

    @api.get("/queues")
    def queues(caller: SiteReader) -> str:
        return caller.name

    @api.post("/queues/pause")
    def pause(caller: SiteAdmin) -> str:
        return caller.name

    @api.get("/metrics")
    def metrics(caller: MetricsReader) -> str | None:
        return None if caller is None else caller.name

    async def plain_metrics(request: Request) -> PlainTextResponse:
        await guard_metrics(request)
        return PlainTextResponse("metrics")

    api.add_route("/plain-metrics", plain_metrics)

    @api.get("/jobs/{job_id}")
    def job(caller: Reader, job_id: str) -> str:
        return caller.jobs(engine).get(job_id).id

    return api


def _problem(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, TenureError)
    headers = {"www-authenticate": error.challenge} if isinstance(error, Unauthenticated) else {}
    body = {"code": error.code, "detail": str(error)}
    status = next(code for kind, code in STATUS.items() if isinstance(error, kind))
    return JSONResponse(body, status, headers)
