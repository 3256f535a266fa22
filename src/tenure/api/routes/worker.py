"""`/worker/*`: the worker of the answering process. `/internal/tick`: one tick, by token."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
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
Runners = Annotated[
    str | None,
    Query(
        description="Run these only, in this order, comma-separated.",
        examples=["outbox,invoiceReminders"],
        max_length=2_000,
    ),
]
REPORT = {"content": {"application/json": {"schema": {"type": "object"}}}}


@router.get("/worker/status", operation_id="getWorkerStatus")
def get_status(caller: SiteReader, service: Serving, request: Request) -> StatusShape:
    """Whether the worker of the answering process runs."""
    return StatusShape(**_status(service.metrics.stats(), request))


@router.get("/worker/stats", operation_id="getWorkerStats")
def get_stats(caller: SiteReader, service: Serving, request: Request) -> StatsShape:
    """What the worker of the answering process has done."""
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
    """Start the worker of this process; 409 if it runs already or there is none."""
    await service.worker.start(caller.name)
    return RunningShape(is_running=True)


@router.post("/worker/stop", operation_id="stopWorker", responses=may(409))
async def stop_worker(caller: SiteAdmin, service: Serving) -> RunningShape:
    """Stop the worker of this process and wait for its jobs; 409 if it does not run."""
    await service.worker.stop(caller.name)
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
async def tick(request: Request, runners: Runners = None) -> dict[str, Any]:
    """Run every runner once, within the budgets, and answer the report. For external schedulers."""
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
