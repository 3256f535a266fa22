"""Jobs in requests and answers."""

from __future__ import annotations

from typing import Any

from pydantic import ConfigDict, Field, field_validator
from pydantic.config import JsonDict

from tenure.api.kit.shapes.shape import Input, Moment, Shape, When, a_number, a_text
from tenure.api.kit.shapes.words import JobId as Id
from tenure.api.kit.shapes.words import Key, Kind, LimitKey, OrderingKey, Queue, Tenant, User
from tenure.core.job import Job, KeyMode, State
from tenure.core.rules.order import AfterFailure, OnFailure
from tenure.core.rules.why import Why
from tenure.jobs.option_values import AFTER_AT_MOST, TEN_YEARS
from tenure.jobs.options import Options
from tenure.stores.contract import Attempt, LogLine
from tenure.stores.contract.reading import ShortError

RENAMED = {
    "delay_seconds": "delay",
    "key_window_seconds": "key_window",
    "expires_at": "expires",
    "user_id": "owner",
}
EXAMPLE: JsonDict = {
    "kind": "invoice.pdf.render",
    "payload": {"invoice_id": 42},
    "key": "inv:42",
    "priority": 1,
}


class NewJobInput(Input):
    """A job to add. The handler decides what is left out, whichever process has it."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE]})

    kind: Kind
    payload: Any = Field(
        default=None, description="Any JSON; usually an object with the handler's arguments."
    )
    key: Key | None = None
    key_mode: KeyMode | None = None
    key_window_seconds: float | None = Field(default=None, gt=0, le=TEN_YEARS)
    queue: Queue | None = None
    priority: int | None = Field(default=None, ge=0, le=1_000)
    tenant: Tenant | None = None
    user_id: User | None = Field(
        default=None, description="The user that the job belongs to; `me` is the caller."
    )
    run_at: When | None = None
    delay_seconds: float | None = Field(default=None, ge=0, le=TEN_YEARS)
    expires_at: When | None = None
    max_attempts: int | None = Field(default=None, ge=1, le=1_000)
    ordering_key: OrderingKey | None = None
    ordering_failure: OnFailure | None = None
    limit_key: LimitKey | None = None
    after: list[Id] | None = Field(default=None, max_length=AFTER_AT_MOST)
    after_failure: AfterFailure | None = None

    _numbers = field_validator(
        "priority", "max_attempts", "delay_seconds", "key_window_seconds", mode="before"
    )(a_number)
    _moments = field_validator("run_at", "expires_at", mode="before")(a_text)

    def options(self) -> Options:
        """The options of the engine that were given."""
        said = self.model_dump(exclude={"kind", "payload"}, exclude_none=True)
        found: Any = {RENAMED.get(name, name): value for name, value in said.items()}
        options: Options = found
        return options


class AddedShape(Shape):
    """The answer to a new job. `created` is false if a job with this key was there already."""

    job_id: str = Field(examples=["42"])
    created: bool


class NewlyAddedShape(AddedShape):
    """The same, with a `warning` if no live worker runs such a job."""

    warning: str | None = Field(
        default=None, description="Present if no live worker runs such a job."
    )


class PriorityInput(Input):
    """The new priority; a small number goes first."""

    priority: int = Field(ge=0, le=1_000, examples=[0])

    _number = field_validator("priority", mode="before")(a_number)


class WhyShape(Shape):
    """A code for programs and a sentence for people."""

    code: str = Field(examples=["run_at"])
    text: str


class ErrorShape(Shape):
    """What a handler raised."""

    type: str
    message: str
    code: str | None = None
    traceback: str | None = None
    bound: str | None = Field(
        default=None,
        description="How often this class of failure occurred, and how often it may.",
        examples=["NotFound 2 of 3"],
    )


class JobShape(Shape):
    """A job as lists show it."""

    job_id: str = Field(examples=["42"])
    kind: str
    queue: str
    state: State
    reserved: bool = Field(description="Claimed ahead by `worker`; the handler has not started.")
    priority: int
    tenant: str
    user_id: str | None
    attempt: int
    max_attempts: int
    crashes: int = Field(description="How often a worker died while this job ran.")
    fence: int
    run_at: Moment
    created_at: Moment
    started_at: Moment | None
    finished_at: Moment | None
    expires_at: Moment | None
    worker: str | None
    lease_until: Moment | None
    cancel_requested: bool
    key: str | None
    reason: str | None
    progress: float | None
    progress_note: str | None
    correlation_id: str | None
    enqueued_by: str | None
    ordering_key: str | None
    batch_id: str | None
    seq: int | None
    lifted: bool = Field(description="Whether its queue's ageing has raised its priority.")


class ShortErrorShape(Shape):
    """What a handler raised last, cut short."""

    type: str
    message: str
    code: str | None


class ListedJobShape(JobShape):
    """A job of a list, with its last failure; `why` is there if it was asked for."""

    last_error: ShortErrorShape | None
    why: WhyShape | None = Field(description="Only for waiting jobs, with `include=why`.")


class WholeJobShape(JobShape):
    """One job with everything: payload, result, the last error, and why it is not running."""

    payload: Any
    result: Any
    waits_for: list[str]
    last_error: ErrorShape | None
    why: WhyShape


class AttemptShape(Shape):
    """One entry of a history: a run, or an operator's move."""

    fence: int
    attempt: int
    entry: str
    worker: str | None
    started_at: Moment | None
    finished_at: Moment
    duration_seconds: float | None
    error: ErrorShape | None


class LogLineShape(Shape):
    """One line that a handler wrote."""

    at: Moment | None
    level: str
    message: str


class JobPage(Shape):
    """Newest first. Pass `next` as `after` for the next page; null: this is the last."""

    items: list[ListedJobShape]
    next: str | None
    searched: int | None = Field(description="How many rows were read, if no index had the answer.")
    complete: bool = Field(description="False: older rows were not searched; `next` continues.")


class HistoryShape(Shape):
    """Oldest first."""

    items: list[AttemptShape]


class LogsShape(Shape):
    """Oldest first. Pass `next` as `after` for the next lines; null: there are none."""

    items: list[LogLineShape]
    next: str | None


OTHER_NAMES = {"job_id": "id", "user_id": "owner", "worker": "lease_owner"}
LIGHT = {name: OTHER_NAMES.get(name, name) for name in JobShape.model_fields}


def light(job: Job) -> JobShape:
    """Everything but payload and result."""
    # Not validated: the values come from the store, and lists are a hot route.
    return JobShape.model_construct(**_light(job))


def listed(job: Job, error: ShortError | None, why: Why | None) -> ListedJobShape:
    """A row of a list."""
    return ListedJobShape.model_construct(
        **_light(job),
        last_error=None
        if error is None
        else ShortErrorShape.model_construct(
            type=error.type, message=error.message, code=error.code
        ),
        why=None if why is None else WhyShape.model_construct(code=why.code, text=why.text),
    )


def whole(job: Job, history: list[Attempt], why: Why) -> WholeJobShape:
    """Everything, with payload and result."""
    failures = (one.failure for one in reversed(history) if one.failure is not None)
    return WholeJobShape.model_construct(
        **_light(job),
        payload=job.payload,
        result=job.result,
        waits_for=list(job.waits_for or ()),
        last_error=error_of(next(failures, None)),
        why=WhyShape.model_construct(code=why.code, text=why.text),
    )


def attempt(one: Attempt) -> AttemptShape:
    """A line of the history."""
    return AttemptShape(
        fence=one.fence,
        attempt=one.attempt,
        entry=one.entry,
        worker=one.worker,
        started_at=one.started_at,
        finished_at=one.finished_at,
        duration_seconds=one.duration_seconds,
        error=error_of(one.failure),
    )


def log_line(line: LogLine) -> LogLineShape:
    """The shape of a log line."""
    return LogLineShape(at=line.at, level=line.level, message=line.message)


def error_of(failure: dict[str, Any] | None) -> ErrorShape | None:
    """The shape of a stored failure; unknown fields of newer code are ignored."""
    if failure is None:
        return None
    known = {name: failure.get(name) for name in ErrorShape.model_fields}
    return ErrorShape.model_construct(**known)


def _light(job: Job) -> dict[str, Any]:
    return {name: getattr(job, source) for name, source in LIGHT.items()}
