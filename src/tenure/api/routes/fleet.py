"""`/api/queues`, `/api/workers`, `/api/locks`: what belongs to no tenant."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path

from tenure.api.kit.answers import may
from tenure.api.kit.errors import WorkerNotFound
from tenure.api.kit.identity import SiteAdmin, SiteReader
from tenure.api.kit.service import Engine
from tenure.api.kit.shapes.fleet import (
    LocksShape,
    PauseInput,
    QueuesShape,
    QueueStateShape,
    StoppingShape,
    WorkersShape,
    lock_shape,
    queue_shape,
    worker_shape,
)
from tenure.api.kit.shapes.words import PLAIN
from tenure.operations.queue_loads import queue_loads

router = APIRouter(prefix="/api", tags=["fleet"])
NO_REASON = PauseInput()
WorkerId = Annotated[
    str, Path(alias="workerId", pattern=PLAIN, max_length=200, examples=["host:4211:9f2c01ab"])
]


@router.get("/queues", operation_id="listQueues")
def list_queues(caller: SiteReader, engine: Engine) -> QueuesShape:
    """List queues that have open jobs, are paused, are served by a live worker, or are declared in
    code or by an operator. Each figure is counted up to 20,000; `atLeast` says that there are more.
    """
    declared = engine.queues.declared.keys() | engine.queues.kept().keys()
    found = queue_loads(engine.store, engine.insight, declared)
    return QueuesShape(items=[queue_shape(one) for one in found])


@router.post("/queues/{queue:path}/pause", operation_id="pauseQueue")
def pause_queue(
    queue: str, caller: SiteAdmin, engine: Engine, asked: PauseInput = NO_REASON
) -> QueueStateShape:
    """Pause a queue: workers start none of its jobs. A queue without jobs can be paused too. The
    body is optional; a reason for a queue that is paused already replaces the one it has.
    """
    engine.operator.pause(queue, caller.name, reason=asked.reason)
    return QueueStateShape(name=queue, paused=True)


@router.post("/queues/{queue:path}/resume", operation_id="resumeQueue")
def resume_queue(queue: str, caller: SiteAdmin, engine: Engine) -> QueueStateShape:
    """Resume a paused queue."""
    engine.operator.resume(queue, caller.name)
    return QueueStateShape(name=queue, paused=False)


@router.get("/workers", operation_id="listWorkers")
def list_workers(caller: SiteReader, engine: Engine) -> WorkersShape:
    """List worker processes. One that was silent for a minute is not `alive`."""
    return WorkersShape(items=[worker_shape(one) for one in engine.insight.workers()])


@router.post("/workers/{workerId}/stop", operation_id="stopWorkerProcess", responses=may(404))
def stop_worker_process(worker_id: WorkerId, caller: SiteAdmin, engine: Engine) -> StoppingShape:
    """Ask a worker to stop: within 15 seconds it starts nothing new, finishes what runs, and ends.
    A supervisor may start another one in its place.
    """
    if not engine.operator.stop_worker(worker_id, caller.name):
        raise WorkerNotFound(worker_id)
    return StoppingShape(worker_id=worker_id, stopping=True)


@router.get("/locks", operation_id="listLocks")
def list_locks(caller: SiteReader, engine: Engine) -> LocksShape:
    """List named locks that are held."""
    return LocksShape(items=[lock_shape(one) for one in engine.store.locks.list()])
