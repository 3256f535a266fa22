"""Moves over many jobs: preview, start, progress."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Path, Response
from starlette.concurrency import run_in_threadpool

from tenure.access.scoped_jobs import ScopedJobs
from tenure.api.bulk_moves import Move, Operation, OperationState
from tenure.api.kit.answers import Responses, may
from tenure.api.kit.identity import Reader, Writer
from tenure.api.kit.service import Service, Serving
from tenure.api.kit.shapes.filters import MoveInput
from tenure.api.kit.shapes.operations import (
    OperationShape,
    OperationsShape,
    listed_shape,
    operation_shape,
)
from tenure.core.errors import FilterRequired, OptionError
from tenure.core.filter import JobFilter
from tenure.core.job import DEAD_LETTERS, OPEN_STATES
from tenure.operations.operator import dead_letters

OperationId = Annotated[str, Path(alias="operationId", examples=["6f1c9ad02b7e4c55"])]
router = APIRouter(prefix="/api", tags=["jobs"])
# Most moves are over by then, and the client needs no second request.
PATIENCE_SECONDS = 1.0
BEGUN: Responses = {
    202: {"model": OperationShape, "description": "Begun; `Location` tells how far it is"}
}


@router.post(
    "/jobs/replay", operation_id="replayJobs", response_model=OperationShape, responses=BEGUN
)
async def replay_jobs(
    asked: MoveInput, caller: Writer, service: Serving, response: Response
) -> OperationShape:
    """Start failed and dead jobs that match again. `dryRun` only counts them."""
    where = asked.filter(caller)
    if set(where.states or ()) - set(DEAD_LETTERS):
        raise OptionError("replay takes failed and dead jobs; retry others one by one")
    jobs = caller.jobs(service.engine)
    order = _Order("replay", jobs, where, dead_letters(where), jobs.replay)
    return await _carry_out(service, order, asked.dry_run, response)


@router.post(
    "/jobs/cancel", operation_id="cancelJobs", response_model=OperationShape, responses=BEGUN
)
async def cancel_jobs(
    asked: MoveInput, caller: Writer, service: Serving, response: Response
) -> OperationShape:
    """Cancel waiting jobs that match, and ask running ones to stop. `dryRun` only counts them."""
    where = asked.filter(caller)
    jobs = caller.jobs(service.engine)
    mine = where if where.states is not None else replace(where, states=OPEN_STATES)
    order = _Order("cancel", jobs, where, mine, jobs.cancel_all)
    return await _carry_out(service, order, asked.dry_run, response)


@router.get("/operations/{operationId}", operation_id="getOperation", responses=may(404))
def get_operation(operation_id: OperationId, caller: Reader, service: Serving) -> OperationShape:
    """Read the progress of a move over many jobs. It is kept for a day."""
    return operation_shape(service.operations.get(operation_id, caller.scope))


@router.get("/operations", operation_id="listOperations")
def list_operations(caller: Reader, service: Serving) -> OperationsShape:
    """List moves over many jobs, running and ended, of the last day."""
    return OperationsShape(
        items=[listed_shape(one) for one in service.operations.recent(caller.scope)]
    )


@router.post("/operations/{operationId}/stop", operation_id="stopOperation", responses=may(404))
def stop_operation(operation_id: OperationId, caller: Writer, service: Serving) -> OperationShape:
    """Stop a move between two chunks of jobs. What it has changed stays. One that has ended is
    answered as it is.
    """
    stopped = service.operations.stop(operation_id, caller.scope)
    service.engine.operator.audit.note(caller.name, "operation.stopped", operation_id)
    return operation_shape(stopped)


class _Order:
    """A move, and the jobs to move."""

    def __init__(
        self,
        action: str,
        jobs: ScopedJobs,
        asked: JobFilter,
        where: JobFilter,
        move: Callable[..., object],
    ) -> None:
        if asked.empty:
            raise FilterRequired(action)
        self.action = action
        self.jobs = jobs
        self.where = where
        self._move = move

    @property
    def move(self) -> Move:
        return lambda watch: self._move(self.where, watch=watch)  # type: ignore[return-value]

    def count(self) -> int:
        return self.jobs.preview(self.where)


async def _carry_out(
    service: Service, order: _Order, dry_run: bool, response: Response
) -> OperationShape:
    """A small move is done when this answers; a large one goes on, and its progress can be read."""
    total = await run_in_threadpool(order.count)
    operations = service.operations
    if dry_run:
        preview = partial(operations.preview, order.jobs, order.action, total)
        return operation_shape(await run_in_threadpool(preview))
    begin = partial(operations.begin, order.jobs, order.action, total, order.move, order.where)
    begun, ending = await run_in_threadpool(begin)
    response.headers["location"] = f"/api/operations/{begun.id}"
    seen = await _for_a_moment(begun, asyncio.wrap_future(ending))
    if seen.state is OperationState.RUNNING:
        response.status_code = 202
    return operation_shape(seen)


async def _for_a_moment(begun: Operation, ending: asyncio.Future[Operation]) -> Operation:
    await asyncio.wait({ending}, timeout=PATIENCE_SECONDS)
    return ending.result() if ending.done() and not ending.cancelled() else begun
