"""`/api/events`, `/api/jobs/{jobId}/events` and `…/wait`: requests that last, so they are async."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request, Response
from fastapi.responses import StreamingResponse
from starlette.concurrency import run_in_threadpool

from tenure.access.scoped_jobs import Scoped
from tenure.api.events.changes import JobNews
from tenure.api.events.clients import JobClient
from tenure.api.events.frames import STREAM
from tenure.api.events.stream import Pace, stream_all, stream_job
from tenure.api.kit.answers import Responses, may
from tenure.api.kit.guards.heads import is_head
from tenure.api.kit.identity import Reader, while_known
from tenure.api.kit.service import Readable, Service, Serving
from tenure.api.kit.shapes.filters import EventsInput
from tenure.api.kit.shapes.waits import FailedShape, PendingShape, ReadyShape
from tenure.api.routes.answers import JobId, Passing
from tenure.asgi.messages import Scope
from tenure.asgi.wait import WaitRoute
from tenure.core.job import Job

router = APIRouter(prefix="/api", tags=["events"])
LastEventId = Annotated[
    str | None,
    Header(alias="Last-Event-ID", max_length=100, description="Go on behind this event."),
]
EVENT = {
    "type": "object",
    "description": "One event; `data` is JSON.",
    "properties": {
        "event": {"type": "string", "enum": ["ready", "reset", "job", "log", "end"]},
        "data": {"type": "string", "contentMediaType": "application/json"},
        "id": {"type": "string"},
    },
    "required": ["event", "data"],
}
EVENTS: Responses = {
    200: {"description": "Server-sent events", "content": {STREAM: {"schema": EVENT}}}
}
WAITS: list[dict[str, Any]] = [
    {"name": "waitMs", "in": "query", "schema": {"type": "integer", "minimum": 0},
     "description": "How long to wait, 15000 by default; more than 30000 is cut to that."},
    {"name": "Prefer", "in": "header", "schema": {"type": "string"}, "example": "wait=5",
     "description": "`wait=SECONDS`, where there is no waitMs."},
]  # fmt: skip


@router.get("/events", operation_id="streamEvents", response_class=Response, responses=EVENTS)
async def stream_events(
    asked: Annotated[EventsInput, Query()],
    caller: Reader,
    service: Serving,
    request: Request,
    last_event_id: LastEventId = None,
) -> Response:
    """Changes of all jobs that the caller may see: `event: job` with the job as lists show it, the
    latest of each within half a second. `ready` and `reset` say: read your lists now, and nothing
    after them is missed.
    """
    service.hub.check_room()
    scope, owner = caller.scope, caller.whose(asked.user_id)

    def wanted(job: Job) -> bool:
        return scope.has(job) and asked.has(job) and owner in (None, job.owner)

    parts = stream_all(service.hub, wanted, last_event_id, _pace(service))
    return await _streaming(request, parts)


@router.get(
    "/jobs/{jobId}/events",
    operation_id="streamJobEvents",
    response_class=Response,
    responses={**EVENTS, 204: {"description": "It has ended, and all was sent"}, **may(404)},
)
async def stream_job_events(
    job_id: JobId,
    jobs: Readable,
    service: Serving,
    request: Request,
    last_event_id: LastEventId = None,
) -> Response:
    """One job: `event: job` at a change, `event: log` for each line, `event: end` at its end."""
    service.hub.check_room()
    job = await run_in_threadpool(jobs.get, job_id)
    client = JobClient(job.id, last_event_id)
    if last_event_id is not None and await run_in_threadpool(_has_all, client, job, jobs):
        return Response(status_code=204)
    return await _streaming(request, stream_job(service.hub, client, _pace(service)))


@router.get(
    "/jobs/{jobId}/wait",
    operation_id="waitForJob",
    response_model=ReadyShape,
    openapi_extra={"parameters": WAITS},
    responses={
        202: {
            "model": PendingShape,
            "description": "Not yet; `Retry-After` says when to ask again",
        },
        422: {"model": FailedShape, "description": "It has ended without a result"},
        **may(404),
    },
)
async def wait_for_job(
    job_id: JobId, jobs: Readable, service: Serving, request: Request
) -> Response:
    """The result as soon as there is one, or where it stands when the time is over."""
    await run_in_threadpool(jobs.get, job_id)

    async def named(scope: Scope) -> str:
        return job_id

    def closing() -> bool:
        return service.hub.closing or is_head(request)

    return Passing(WaitRoute(service.engine, named, closing=closing))


def _has_all(client: JobClient, job: Job, jobs: Scoped) -> bool:
    """A browser comes again after the end: 204 tells it to stay away."""
    if not job.state.final:
        return False
    client.offer(JobNews(job, jobs.logs(job.id)))
    return client.over


def _pace(service: Service) -> Pace:
    return Pace(service.settings.heartbeat_seconds, service.settings.stream_seconds)


async def _streaming(request: Request, parts: AsyncGenerator[bytes, None]) -> Response:
    headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
    if is_head(request):
        await parts.aclose()
        return Response(media_type=STREAM, headers=headers)
    return StreamingResponse(while_known(request, parts), media_type=STREAM, headers=headers)
