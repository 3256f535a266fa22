"""`/worker/*`: the worker of the process that answers. `/internal/tick`: one tick, by token."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from starlette.exceptions import HTTPException

from tenure.api.kit.answers import may
from tenure.api.kit.identity import SiteAdmin, SiteReader
from tenure.api.kit.service import Serving
from tenure.api.kit.shapes.fleet import RunningShape, StatsShape, StatusShape
from tenure.api.routes.answers import Passing
from tenure.asgi import TickRoute
from tenure.asgi.messages import note
from tenure.watch.metrics import Stats

router = APIRouter(tags=["worker"])
internal = APIRouter(tags=["worker"])
REPORT = {"content": {"application/json": {"schema": {"type": "object"}}}}


@router.get("/worker/status", operation_id="getWorkerStatus")
def get_status(caller: SiteReader, service: Serving, request: Request) -> StatusShape:
    """Whether jobs are taken in the process that answers."""
    return StatusShape(**_status(service.metrics.stats(), request))


@router.get("/worker/stats", operation_id="getWorkerStats")
def get_stats(caller: SiteReader, service: Serving, request: Request) -> StatsShape:
    """What was done in the process that answers."""
    stats = service.metrics.stats()
    return StatsShape(
        **_status(stats, request),
        total_processed=stats.processed,
        total_succeeded=stats.succeeded,
        total_failed=stats.failed,
        total_retries=stats.retries,
        uptime_seconds=int(stats.uptime_seconds),
    )


@router.post("/worker/start", operation_id="startWorker", responses=may(409))
async def start_worker(caller: SiteAdmin, service: Serving) -> RunningShape:
    """Take jobs in this process; 409 where that is so already, or it has no worker."""
    await service.replica.start(caller.name)
    return RunningShape(is_running=True)


@router.post("/worker/stop", operation_id="stopWorker", responses=may(409))
async def stop_worker(caller: SiteAdmin, service: Serving) -> RunningShape:
    """Take no more jobs in this process, and wait for those that run; 409 where it does not."""
    await service.replica.stop(caller.name)
    return RunningShape(is_running=False)


@internal.post(
    "/internal/tick",
    operation_id="tick",
    openapi_extra={"security": [{"serviceToken": []}]},
    responses={
        500: {"description": "The report; a runner failed", **REPORT},
        **may(401, 403, 404, 409),
    },
)
async def tick(request: Request) -> dict[str, Any]:
    """Every runner once, within the budgets, for a scheduler outside; its report."""
    route: TickRoute | None = request.app.state.service.tick
    if route is None:
        raise HTTPException(404, "WORKER_API_SERVICE_TOKEN is not set, or there are no handlers")
    return Passing(route)  # type: ignore[return-value]


def _status(stats: Stats, request: Request) -> dict[str, Any]:
    return {
        "is_running": stats.running,
        "current_queue_depth": stats.queue_depth,
        "last_poll_time": stats.last_poll_at,
        "correlation_id": note(request.scope, "correlation_id"),
    }
