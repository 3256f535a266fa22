"""`/api/jobs`: add, read, list and move jobs."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request, Response

from tenure.api.kit.answers import may
from tenure.api.kit.cursors import seal, unseal
from tenure.api.kit.idempotency import Answer
from tenure.api.kit.identity import Reader, Writer
from tenure.api.kit.service import Engine, Readable, Service, Serving, Writable, service_of
from tenure.api.kit.shapes.counts import CountsShape, FamilyShape, counts_shape, family_shape
from tenure.api.kit.shapes.filters import FilterInput, ListInput
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
from tenure.api.routes.rows import list_rows
from tenure.app import Tenure
from tenure.core.errors import OptionError
from tenure.core.job import DEAD_LETTERS, Job, State
from tenure.jobs.codec import encode
from tenure.jobs.options import Options

router = APIRouter(prefix="/api", tags=["jobs"])
MOST_LINES = 5_000
FAMILY = 100
After = Annotated[str | None, Query(max_length=500, description="`next` of the previous page.")]
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
    """Add one job. It is durable when this answers. `warning` is there if no live worker runs such
    a job.
    """
    service = service_of(request)
    jobs = caller.jobs(service.engine)
    _check_arguments(service.engine, job)

    options: Options = {**job.options(), "owner": caller.owner_of_new(job.user_id)}
    warning = service.why_cache.warning(job.kind, job.queue)

    def act(tx: Any) -> Answer:
        ref = jobs.enqueue(job.kind, job.payload, **{**options, "tx": tx})
        body: dict[str, Any] = {"jobId": ref.id, "created": ref.created}
        if warning is not None:
            body["warning"] = warning
        return Answer(201 if ref.created else 200, body)

    if idempotency_key is None:
        return created(act(None))
    question = _question(service.engine, job)
    return created(service.idempotency.answer(caller, idempotency_key, question, act))


@router.get("/jobs", operation_id="listJobs")
def list_jobs(
    asked: Annotated[ListInput, Query()], caller: Reader, request: Request, response: Response
) -> JobPage:
    """List jobs that match all conditions, newest first, without payloads."""
    return _page(asked, caller, request, response)


@router.get("/jobs/counts", operation_id="countJobs")
def count_jobs(
    asked: Annotated[FilterInput, Query()], caller: Reader, engine: Engine
) -> CountsShape:
    """Count jobs by state. Never reads more than 100,000 rows; each count says how good it is."""
    return counts_shape(caller.jobs(engine).tally(asked.filter(caller)))


@router.get("/dead-letters", operation_id="listDeadLetters")
def list_dead_letters(
    asked: Annotated[ListInput, Query()], caller: Reader, request: Request, response: Response
) -> JobPage:
    """List failed and dead jobs, newest first; `state` selects one of the two."""
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
    """Read one job with payload, result, last error, and the reason why it is not running."""
    service = service_of(request)
    return with_etag(_whole(service, caller.jobs(service.engine).get(job_id)), if_none_match)


@router.get("/jobs/{jobId}/family", operation_id="getJobFamily", responses=may(404))
def get_family(job_id: JobId, caller: Reader, service: Serving) -> FamilyShape:
    """Read the job that enqueued it, the jobs that it enqueued, its dependencies and its steps."""
    found = caller.jobs(service.engine).relatives(job_id, FAMILY + 1)
    rows = partial(list_rows, service, why=False)
    return family_shape(found, rows, FAMILY)


@router.get("/jobs/{jobId}/history", operation_id="getJobHistory", responses=may(404))
def get_history(job_id: JobId, jobs: Readable) -> HistoryShape:
    """List every run and every move of a job, oldest first."""
    return HistoryShape(items=[attempt(one) for one in jobs.history(job_id)])


@router.get("/jobs/{jobId}/logs", operation_id="getJobLogs", responses=may(404))
def get_logs(
    job_id: JobId,
    jobs: Readable,
    limit: Annotated[int, Query(ge=1, le=MOST_LINES)] = 500,
    after: After = None,
) -> LogsShape:
    """List the log lines of a job, oldest first."""
    question = f"logs of {job_id}"
    # One more than asked for shows whether there is a next page.
    found = jobs.logs(job_id, limit + 1, unseal(after, question))
    more = seal(found[limit - 1].id, question) if len(found) > limit else None
    return LogsShape(items=[log_line(line) for line in found[:limit]], next=more)


@router.post("/jobs/{jobId}/cancel", operation_id="cancelJob", responses=may(404, 409))
def cancel_job(job_id: JobId, jobs: Writable, service: Serving) -> JobShape:
    """Cancel a job. A waiting one ends at once; a running one is asked to stop."""
    return _moved(service, jobs.cancel(job_id))


@router.post("/jobs/{jobId}/retry", operation_id="retryJob", responses=may(404, 409))
def retry_job(job_id: JobId, jobs: Writable, service: Serving) -> JobShape:
    """Retry a job. A finished one starts again, a waiting one is due now; 409 for a running one."""
    return _moved(service, jobs.retry(job_id))


@router.post("/jobs/{jobId}/reprioritise", operation_id="reprioritiseJob", responses=may(404, 409))
def reprioritise_job(
    job_id: JobId, asked: PriorityInput, jobs: Writable, service: Serving
) -> JobShape:
    """Change the priority of a waiting job."""
    return _moved(service, jobs.reprioritise(job_id, asked.priority))


def _check_arguments(engine: Tenure, job: NewJobInput) -> None:
    """Check the arguments if this process has the handler; otherwise a worker will."""
    handler = engine.handlers.get(job.kind)
    if handler is not None:
        payload = {} if job.payload is None else job.payload
        handler.unpack(encode(payload, engine.settings.payload_limit_bytes))


def _question(engine: Tenure, job: NewJobInput) -> str:
    """The request that an Idempotency-Key stands for. An unstorable payload is refused."""
    payload = encode(job.payload, engine.settings.payload_limit_bytes)
    return f"{job.model_dump_json(exclude={'payload'})}\n{payload}"


def _moved(service: Service, job: Job) -> JobShape:
    """Tell the event streams of this process."""
    service.hub.hint(job.id)
    return light(job)


def _page(asked: ListInput, caller: Reader, request: Request, response: Response) -> JobPage:
    service = service_of(request)
    jobs = caller.jobs(service.engine)
    limit = asked.limit(service.settings.page_limit)
    after = unseal(asked.after, asked.question())
    page = jobs.page(asked.filter(caller), limit=limit, after=after)
    more = seal(page.next, asked.question())
    if more is not None:
        response.headers["link"] = f'<{_link(request, more)}>; rel="next"'
    return JobPage.model_construct(
        items=list_rows(service, page.rows, why=bool(asked.include)),
        next=more,
        searched=page.searched,
        complete=page.complete,
    )


def _link(request: Request, after: str) -> str:
    url = request.url.include_query_params(after=after)
    return f"{url.path}?{url.query}"


def _whole(service: Service, job: Job) -> WholeJobShape:
    """A job before or in its first run has no errors: the query is saved."""
    # A claim raises the fence. Queued with fence 1 means that the first run has ended, maybe badly.
    unclaimed = job.state is State.QUEUED and job.fence == 0
    first = job.state in (State.RUNNING, State.SUCCEEDED) and job.fence == 1
    history = [] if unclaimed or first else service.engine.insight.history(job)
    return whole(job, history, service.why_cache.why(job))
