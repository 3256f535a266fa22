"""Filters of jobs: the same names in a query and in a body."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from tenure.access.caller import Caller
from tenure.api.kit.shapes.shape import Input, When
from tenure.api.kit.shapes.words import (
    PLAIN,
    CorrelationId,
    JobId,
    Key,
    Kind,
    OrderingKey,
    Queue,
    Tenant,
    User,
)
from tenure.core.errors import OptionError
from tenure.core.filter import MOST_PATHS, JobFilter, PayloadPath
from tenure.core.job import Job, State
from tenure.core.page import MAX_PAGE
from tenure.core.search import LONGEST, both, search

MANY = 100
DEFAULT_PAGE = 50
MOST_IDS = 1_000
GROUP = "^[0-7][0-9a-f]{15}$"
QUERY = (
    "Search tokens: `kind:` `queue:` `state:` `tenant:` `user:` `key:` `error:` `group:` "
    "`parent:` `worker:` `id:` `payload.PATH:`; a word without a colon is a key or an id."
)
PATHS = "`path=value` of a place in the payload, such as `order.id=42`."
PathAndValue = Annotated[
    str, Field(max_length=500, pattern=r"^[^\x00-\x1f\x7f=]+=[^\x00-\x1f\x7f]*$")
]
USER = "`me` is the caller; `all` and other users need the permission admin."


class FilterInput(Input):
    """All given conditions must hold."""

    q: str | None = Field(
        default=None, min_length=1, max_length=LONGEST, pattern=PLAIN, description=QUERY,
        examples=['kind:mail.send state:dead error:"connection refused"'],
    )  # fmt: skip
    state: list[State] | None = Field(default=None, min_length=1, max_length=len(State))
    kind: list[Kind] | None = Field(default=None, min_length=1, max_length=MANY)
    queue: list[Queue] | None = Field(default=None, min_length=1, max_length=MANY)
    tenant: Tenant | None = None
    user_id: User | None = Field(default=None, description=USER)
    key: Key | None = None
    correlation_id: CorrelationId | None = None
    batch_id: JobId | None = None
    created_after: When | None = None
    created_before: When | None = None
    ordering_key: OrderingKey | None = None
    error: str | None = Field(
        default=None, min_length=1, max_length=200, pattern=PLAIN,
        description="A part of the type or message of one of its failures, or of the reason.",
    )  # fmt: skip
    error_group: str | None = Field(default=None, pattern=GROUP, examples=["1e1a4ec080c109ef"])
    payload: list[PathAndValue] | None = Field(
        default=None, min_length=1, max_length=MOST_PATHS, description=PATHS
    )
    parent: JobId | None = Field(
        default=None, description="The job that enqueued it, or its batch."
    )
    worker: str | None = Field(
        default=None, min_length=1, max_length=200, pattern=PLAIN,
        description="Id of the worker process that has it in hand.",
    )  # fmt: skip

    def filter(self, caller: Caller) -> JobFilter:
        """The filter of the engine, with what `q` says and the users resolved for this caller."""
        given = self.where(caller.whose(self.user_id))
        if self.q is None:
            return given
        found = search(self.q)
        if found.owner is not None:
            found = replace(found, owner=caller.whose(found.owner))
        return both(given, found) or JobFilter(ids=())

    def where(self, owner: str | None) -> JobFilter:
        """The filter without `q`; `owner` is what `userId` was resolved to."""
        return JobFilter(
            states=_any(self.state),
            kinds=_any(self.kind),
            queues=_any(self.queue),
            tenant=self.tenant,
            owner=owner,
            key=self.key,
            correlation_id=self.correlation_id,
            batch_id=self.batch_id,
            created_after=self.created_after,
            created_before=self.created_before,
            ordering_key=self.ordering_key,
            error=self.error,
            error_group=self.error_group,
            payload=_paths(self.payload),
            parent=self.parent,
            worker=self.worker,
        )


class ListInput(FilterInput):
    """A filter and a page."""

    include: list[Literal["why"]] | None = Field(
        default=None, max_length=1, description="`why`: the reason for each waiting row."
    )
    page_size: int = Field(default=DEFAULT_PAGE, ge=1, le=MAX_PAGE)
    after: str | None = Field(
        default=None, max_length=500, description="`next` of the previous page."
    )

    def limit(self, most: int) -> int:
        """The page size; OptionError if it is above the limit of this service."""
        # Only a size that was asked for is refused; the default is cut silently.
        if self.page_size > most and "page_size" in self.model_fields_set:
            raise OptionError(f"pageSize is at most {most} here, not {self.page_size}")
        return min(self.page_size, most)

    def question(self) -> str:
        """The filter as a text: a cursor belongs to one."""
        return self.model_dump_json(exclude={"page_size", "after", "include"}, exclude_none=True)


class EventsInput(Input):
    """The jobs whose changes are streamed."""

    kind: list[Kind] | None = Field(default=None, max_length=MANY)
    queue: list[Queue] | None = Field(default=None, max_length=MANY)
    tenant: Tenant | None = None
    user_id: User | None = Field(default=None, description=USER)

    def has(self, job: Job) -> bool:
        """Whether a job matches. `userId` is checked by the route."""
        return (
            (not self.kind or job.kind in self.kind)
            and (not self.queue or job.queue in self.queue)
            and self.tenant in (None, job.tenant)
        )


class MoveInput(FilterInput):
    """A filter or ids for a move over many jobs. At least one condition is required."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"kind": ["invoice.pdf.render"], "dryRun": True}]}
    )

    job_ids: list[JobId] | None = Field(default=None, min_length=1, max_length=MOST_IDS)
    finished_before: When | None = None
    # Strict: a text such as "no" must not be guessed, since the other choice changes jobs.
    dry_run: bool = Field(default=False, strict=True, description="Only count the jobs that match.")

    def where(self, owner: str | None) -> JobFilter:
        """The filter with the ids."""
        ids, before = _any(self.job_ids), self.finished_before
        return replace(super().where(owner), ids=ids, finished_before=before)


def _paths(given: list[str] | None) -> tuple[PayloadPath, ...] | None:
    if not given:
        return None
    pairs = (one.partition("=") for one in given)
    return tuple(PayloadPath.of(path, value) for path, _, value in pairs)


def _any(values: list[Any] | None) -> tuple[Any, ...] | None:
    return tuple(values) if values else None
