"""`/api/jobs`: add, read, list and move jobs. What waits and what streams is in files beside."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request, Response

from tenure.api.kit.answers import may
from tenure.api.kit.cursors import seal, unseal
from tenure.api.kit.idempotency import Answer
from tenure.api.kit.identity import Reader, Writer
from tenure.api.kit.service import Readable, Service, Serving, Writable, service_of
from tenure.api.kit.shapes.filters import ListInput
from tenure.api.kit.shapes.jobs import (
    HistoryShape,
    JobPage,
    JobShape,
    LogsShape,
    NewJobInput,
    NewlyAddedShape,
    PriorityInput,
    WholeJobShape,
    attempt,
    light,
    log_line,
    whole,
)
from tenure.api.routes.answers import JobId, created, with_etag
from tenure.app import Tenure
from tenure.core.errors import OptionError
from tenure.core.job import DEAD_LETTERS, Job, State
from tenure.jobs.codec import encode
from tenure.jobs.options import Options

router = APIRouter(prefix="/api", tags=["jobs"])
MOST_LINES = 5_000
After = Annotated[
    str | None, Query(max_length=500, description="What `next` of the page before said.")
]
ALREADY = "Its key named a job already"
ONCE = (
    "A name for this request. Within a day the same name and body have the same answer, and one "
    "effect; another body is 422, two at the same time 409."
)
IdempotencyKey = Annotated[
    str | None,
    Header(alias="Idempotency-Key", min_length=1, max_length=255, pattern="^[ -~]+$",
           description=ONCE),
]  # fmt: skip


@router.post(
    "/jobs",
    operation_id="createJob",
    status_code=201,
    response_model=NewlyAddedShape,
    responses={
        200: {"model": NewlyAddedShape, "description": "Its key named a job already"},
        **may(409),
    },
)
def create_job(
    job: NewJobInput, caller: Writer, request: Request, idempotency_key: IdempotencyKey = None
) -> Response:
    """Add one job. It is durable when this answers. `warning` tells where no live worker takes such
    a job.
    """
    service = service_of(request)
    jobs = caller.jobs(service.engine)
    _check_arguments(service.engine, job)

    options: Options = {**job.options(), "owner": caller.owner_of_new(job.user_id)}
    warning = service.reasons.warning(job.kind, job.queue)

    def act(tx: Any) -> Answer:
        ref = jobs.enqueue(job.kind, job.payload, **{**options, "tx": tx})
        body: dict[str, Any] = {"jobId": ref.id, "created": ref.created}
        if warning is not None:
            body["warning"] = warning
        return Answer(201 if ref.created else 200, body)

    if idempotency_key is None:
        return created(act(None))
    question = _question(service.engine, job)
    return created(service.once.answer(caller, idempotency_key, question, act))


@router.get("/jobs", operation_id="listJobs")
def list_jobs(
    asked: Annotated[ListInput, Query()], caller: Reader, request: Request, response: Response
) -> JobPage:
    """Jobs that match all that is given, newest first, without payloads."""
    return _page(asked, caller, request, response)


@router.get("/dead-letters", operation_id="listDeadLetters")
def list_dead_letters(
    asked: Annotated[ListInput, Query()], caller: Reader, request: Request, response: Response
) -> JobPage:
    """Failed and dead jobs, newest first; `state` narrows it to one of the two."""
    if set(asked.state or ()) - set(DEAD_LETTERS):
        raise OptionError("dead letters are failed and dead jobs; /api/jobs lists the others")
    letters = asked.model_copy(update={"state": asked.state or list(DEAD_LETTERS)})
    return _page(letters, caller, request, response)


@router.get(
    "/jobs/{jobId}",
    operation_id="getJob",
    response_model=WholeJobShape,
    responses={304: {"description": "As `If-None-Match` says"}, **may(404)},
)
def get_job(
    job_id: JobId,
    caller: Reader,
    request: Request,
    if_none_match: Annotated[str | None, Header(max_length=1_000)] = None,
) -> Response:
    """One job with payload, result, last error, and the one reason why it is not running."""
    service = service_of(request)
    return with_etag(_whole(service, caller.jobs(service.engine).get(job_id)), if_none_match)


@router.get("/jobs/{jobId}/history", operation_id="getJobHistory", responses=may(404))
def get_history(job_id: JobId, jobs: Readable) -> HistoryShape:
    """Every run and every move, oldest first."""
    return HistoryShape(items=[attempt(one) for one in jobs.history(job_id)])


@router.get("/jobs/{jobId}/logs", operation_id="getJobLogs", responses=may(404))
def get_logs(
    job_id: JobId,
    jobs: Readable,
    limit: Annotated[int, Query(ge=1, le=MOST_LINES)] = 500,
    after: After = None,
) -> LogsShape:
    """What its handlers said, oldest first."""
    question = f"logs of {job_id}"
    found = jobs.logs(job_id, limit + 1, unseal(after, question))
    more = seal(found[limit - 1].id, question) if len(found) > limit else None
    return LogsShape(items=[log_line(line) for line in found[:limit]], next=more)


@router.post("/jobs/{jobId}/cancel", operation_id="cancelJob", responses=may(404, 409))
def cancel_job(job_id: JobId, jobs: Writable, service: Serving) -> JobShape:
    """A waiting job ends at once; a running one is asked to stop."""
    return _moved(service, jobs.cancel(job_id))


@router.post("/jobs/{jobId}/retry", operation_id="retryJob", responses=may(404, 409))
def retry_job(job_id: JobId, jobs: Writable, service: Serving) -> JobShape:
    """A finished job starts anew; a waiting one is due now; a running one is left alone."""
    return _moved(service, jobs.retry(job_id))


@router.post("/jobs/{jobId}/reprioritise", operation_id="reprioritiseJob", responses=may(404, 409))
def reprioritise_job(
    job_id: JobId, asked: PriorityInput, jobs: Writable, service: Serving
) -> JobShape:
    """Another place in the queue, for a job that waits."""
    return _moved(service, jobs.reprioritise(job_id, asked.priority))


def _check_arguments(engine: Tenure, job: NewJobInput) -> None:
    """Where this process knows the handler, it judges now; elsewhere a worker will."""
    handler = engine.handlers.get(job.kind)
    if handler is not None:
        payload = {} if job.payload is None else job.payload
        handler.unpack(encode(payload, engine.settings.payload_limit_bytes))


def _question(engine: Tenure, job: NewJobInput) -> str:
    """What an Idempotency-Key stands for. A payload that cannot be stored is refused here."""
    payload = encode(job.payload, engine.settings.payload_limit_bytes)
    return f"{job.model_dump_json(exclude={'payload'})}\n{payload}"


def _moved(service: Service, job: Job) -> JobShape:
    """Those who watch hear of it."""
    service.hub.hint(job.id)
    return light(job)


def _page(asked: ListInput, caller: Reader, request: Request, response: Response) -> JobPage:
    service = service_of(request)
    jobs = caller.jobs(service.engine)
    limit = asked.limit(service.settings.page_limit)
    after = unseal(asked.after, asked.question())
    page = jobs.page(asked.where(caller.whose(asked.user_id)), limit=limit, after=after)
    more = seal(page.next, asked.question())
    if more is not None:
        response.headers["link"] = f'<{_link(request, more)}>; rel="next"'
    return JobPage(items=[light(job) for job in page.rows], next=more)


def _link(request: Request, after: str) -> str:
    url = request.url.include_query_params(after=after)
    return f"{url.path}?{url.query}"


def _whole(service: Service, job: Job) -> WholeJobShape:
    """A job at its first run, with nothing said about it yet, has no history worth a query."""
    first = job.fence <= 1 and job.state in (State.QUEUED, State.RUNNING, State.SUCCEEDED)
    history = [] if first else service.engine.insight.history(job)
    return whole(job, history, service.reasons.why(job))
