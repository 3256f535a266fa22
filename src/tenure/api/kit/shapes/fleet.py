"""Queues, workers, locks and the worker of this process, in answers."""

from __future__ import annotations

from datetime import datetime

from pydantic import ConfigDict, Field

from tenure.api.kit.shapes.shape import Input, Moment, Shape
from tenure.operations.insight import QueueView, WorkerView
from tenure.operations.pauses import LONGEST_REASON
from tenure.stores.contract.parts import HeldLock


class QueueShape(Shape):
    """A queue and its open jobs."""

    name: str
    queued: int
    running: int
    oldest_run_at: Moment | None
    paused: bool
    due: int | None = Field(description="Of the queued ones: those whose time has come.")
    held: int | None = Field(description="Of these: waiting for a limit or for other jobs.")
    slots: int = Field(description="Slots of live workers.")
    paused_by: str | None
    paused_at: Moment | None
    paused_reason: str | None
    at_least: bool = Field(description="There are more jobs than were counted.")


class PauseInput(Input):
    """Why a queue is paused: one line of text."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"reason": "mail server moves"}]})

    reason: str | None = Field(default=None, min_length=1, max_length=LONGEST_REASON)


class QueueStateShape(Shape):
    """Whether a queue is paused."""

    name: str
    paused: bool


class WorkerShape(Shape):
    """A worker process that has reported lately."""

    worker_id: str
    host: str
    pid: int
    kinds: list[str]
    queues: dict[str, int] = Field(description="Slots by queue.")
    running: int
    started_at: Moment
    seen_at: Moment
    silent_seconds: float
    listening: bool
    alive: bool
    app: str = Field(description="The app that it runs (`TENURE_APP_NAME`); may be empty.")
    release: str


class StoppingShape(Shape):
    """A worker that is asked to stop."""

    worker_id: str
    stopping: bool


class LockShape(Shape):
    """A named lock that is held."""

    name: str
    owner: str
    fence: int


class QueuesShape(Shape):
    """Every queue with open jobs, a pause, or a declaration."""

    items: list[QueueShape]


class WorkersShape(Shape):
    """All worker processes."""

    items: list[WorkerShape]


class LocksShape(Shape):
    """All locks that are held."""

    items: list[LockShape]


class RunningShape(Shape):
    """Whether the worker of the answering process runs."""

    is_running: bool


class StatusShape(Shape):
    """The worker of the answering process. Another process may answer the next request."""

    is_running: bool
    current_queue_depth: int | None = Field(
        description="Queued jobs of all queues, some seconds old; null while that is not known."
    )
    last_poll_time: Moment | None
    correlation_id: str | None


class StatsShape(StatusShape):
    """What it has done since its process started."""

    total_processed: int
    total_succeeded: int
    total_failed: int
    total_retries: int
    uptime_seconds: int


def queue_shape(queue: QueueView) -> QueueShape:
    """The shape of a queue."""
    return QueueShape(
        name=queue.name,
        queued=queue.queued,
        running=queue.running,
        oldest_run_at=queue.oldest_run_at,
        paused=queue.paused,
        due=queue.due,
        held=queue.held,
        slots=queue.slots,
        paused_by=queue.paused_by,
        paused_at=queue.paused_at,
        paused_reason=queue.paused_reason,
        at_least=queue.at_least,
    )


def worker_shape(worker: WorkerView) -> WorkerShape:
    """The shape of a worker."""
    return WorkerShape(
        worker_id=worker.id,
        host=worker.host,
        pid=worker.pid,
        kinds=list(worker.kinds),
        queues=dict(worker.queues),
        running=worker.running,
        started_at=datetime.fromisoformat(worker.started_at),
        seen_at=worker.seen_at,
        silent_seconds=worker.silent_seconds,
        listening=worker.listening,
        alive=worker.alive,
        app=worker.app,
        release=worker.release,
    )


def lock_shape(lock: HeldLock) -> LockShape:
    """The shape of a lock."""
    return LockShape(name=lock.name, owner=lock.owner, fence=lock.fence)
