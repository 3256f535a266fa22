"""A job: what is asked for (NewJob), what is stored (Job), and its states."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from enum import IntFlag, StrEnum
from typing import Any, NamedTuple

DEFAULT_QUEUE = "default"
DEFAULT_PRIORITY = 2
DEFAULT_MAX_ATTEMPTS = 5


class State(StrEnum):
    """Where a job is. The first two are open, the others final."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    DEAD = "dead"
    CANCELED = "canceled"
    NOT_FOUND = "not_found"
    SKIPPED = "skipped"

    @property
    def final(self) -> bool:
        """Whether no worker will run the job again, unless an operator retries it."""
        return self not in OPEN_STATES


OPEN_STATES = (State.QUEUED, State.RUNNING)
FINAL_STATES = tuple(state for state in State if state not in OPEN_STATES)
DEAD_LETTERS = (State.FAILED, State.DEAD)


class KeyMode(StrEnum):
    """What a second enqueue under a live unique key does.

    keep: nothing, the job already there is the answer; another payload is a KeyConflict.
    replace: the waiting job takes the new payload and priority, and its time if one is given.
    debounce: like replace, and its start is put off again, counted from now.
    A job that runs already is never changed: there the rule of keep holds.
    """

    KEEP = "keep"
    REPLACE = "replace"
    DEBOUNCE = "debounce"


@dataclass(frozen=True, slots=True, kw_only=True)
class UniqueKey:
    """One job per (tenant, kind, value): while unfinished, or for `window_seconds` from now."""

    value: str
    mode: KeyMode = KeyMode.KEEP
    window_seconds: float | None = None


class Unplaced(IntFlag):
    """What was left open for a job that was added before its handler was known.

    The row has defaults until a worker that knows the kind applies its handler's placement.
    """

    QUEUE = 1
    PRIORITY = 2
    MAX_ATTEMPTS = 4


class Placement(NamedTuple):
    """Queue, priority and attempts of a kind, as its handler declares them."""

    queue: str
    priority: int
    max_attempts: int


class NewJob(NamedTuple):
    """A job to add. `payload` is JSON text already; `delay_seconds` counts on the store's clock.

    A tuple, because many are made at once and a frozen dataclass takes ten times as long.
    """

    kind: str
    payload: str = "{}"
    queue: str = DEFAULT_QUEUE
    priority: int = DEFAULT_PRIORITY
    tenant: str = ""
    owner: str | None = None
    key: UniqueKey | None = None
    run_at: datetime | None = None
    delay_seconds: float = 0.0
    expires_at: datetime | None = None
    expires_seconds: float | None = None
    max_attempts: int = DEFAULT_MAX_ATTEMPTS
    correlation_id: str | None = None
    trace: str | None = None
    enqueued_by: str | None = None
    ordering_key: str | None = None
    batch_id: str | None = None
    seq: int | None = None
    skips: bool = False
    after: tuple[str, ...] = ()
    runs_anyway: bool = False
    limit_key: str | None = None
    unplaced: Unplaced | int = 0

    def with_payload(self, payload: str) -> NewJob:
        """The same job with another payload; they are the first two fields."""
        return tuple.__new__(NewJob, (self[0], payload, *self[2:]))

    def placed(self, by: Placement) -> NewJob:
        """With its handler's placement, where the caller left it open."""
        said: dict[str, Any] = by._asdict()
        missing = {name: said[name] for name in open_fields(self.unplaced)}
        return self._replace(**missing, unplaced=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A job as it is stored.

    `payload` and `result` are values; `payload_json` and `result_json` are the stored JSON texts.
    Lists leave them and `waits_for` out. A `reserved` job is queued still: `lease_owner` has
    claimed it ahead of a free slot.
    """

    id: str
    kind: str
    queue: str
    state: State
    priority: int
    tenant: str
    owner: str | None
    attempt: int
    max_attempts: int
    fence: int
    hold: int
    run_at: datetime
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    expires_at: datetime | None
    lease_owner: str | None
    lease_until: datetime | None
    cancel_requested: bool
    key: str | None
    reason: str | None
    progress: float | None
    progress_note: str | None
    correlation_id: str | None
    trace: str | None
    enqueued_by: str | None
    ordering_key: str | None
    batch_id: str | None
    seq: int | None
    snoozes: int
    refunds: int
    crashes: int = 0
    reserved: bool = False
    lifted: bool = False
    payload_json: str | None = None
    result_json: str | None = None
    waits_for: tuple[str, ...] | None = None

    # Decoded when asked for and not kept: most readers of jobs look at neither.
    @property
    def payload(self) -> Any:
        """The arguments of the job; None in lists."""
        return None if self.payload_json is None else json.loads(self.payload_json)

    @property
    def result(self) -> Any:
        """What the handler returned; None if it returned nothing, and in lists."""
        return None if self.result_json is None else json.loads(self.result_json)


def open_fields(unplaced: int) -> list[str]:
    """The names of the fields that were left open."""
    return [str(flag.name).lower() for flag in Unplaced if unplaced & flag]
