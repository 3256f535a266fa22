"""What a worker is assigned: every kind of its app, or those of the runners it is limited to."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from tenure.app import Tenure
from tenure.core.errors import OptionError
from tenure.core.rules.shard import Shard
from tenure.core.timing.budget import Budget
from tenure.jobs.handler import Handler
from tenure.jobs.handler_options import QueueSlots
from tenure.worker.runner_names import found_runners
from tenure.worker.running.slots import Slots
from tenure.worker.settings import WorkerSettings

JOBS = "jobs"
# A lease is trusted for less than its length: clocks and answers may be slow, and no other worker
# may take the job while we still believe in it.
TRUST = 0.9


@runtime_checkable
class JobsRunner(Protocol):
    """A runner whose work is jobs. If WORKER_TICK_RUNNERS names it, it is the jobs runner limited
    to its kinds. Otherwise the jobs runner does that part, and `run` does what is left.
    """

    name: str
    lease_seconds: float
    renew_seconds: float

    @property
    def kinds(self) -> Collection[str]:
        """The kinds of its jobs."""
        ...

    def run(self, budget: Budget) -> int:
        """The number of other things done."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """The kinds (None: all) and the shard of tenants, and how long their leases last."""

    kinds: Collection[str] | None
    lease_seconds: float
    renew_every: float
    shard: Shard | None = None

    def has(self, kind: str) -> bool:
        """Whether jobs of this kind are taken."""
        return self.kinds is None or kind in self.kinds

    def trusted_until(self, asked_at: float) -> float:
        """How long to trust a lease that was asked for at this moment (monotonic)."""
        return asked_at + self.lease_seconds * TRUST


def named_runners(app: Tenure, settings: WorkerSettings) -> list[JobsRunner]:
    """The runners of jobs that WORKER_TICK_RUNNERS names."""
    found = found_runners(app, settings.tick_runners)
    return [one for one in found if isinstance(one, JobsRunner)]


def assignment_of(app: Tenure, settings: WorkerSettings) -> Assignment:
    """Everything; or, if runners of jobs are named and `jobs` is not, their kinds and leases."""
    alone = [] if JOBS in settings.tick_runners else named_runners(app, settings)
    if not alone:
        return Assignment(
            kinds=None,
            lease_seconds=app.settings.lease_seconds,
            renew_every=app.settings.renew_every,
            shard=settings.shard,
        )
    lease = min(one.lease_seconds for one in alone)
    renew = min(one.renew_seconds for one in alone)
    return Assignment(
        kinds=tuple(dict.fromkeys(kind for one in alone for kind in one.kinds)),
        lease_seconds=lease,
        renew_every=min(renew, lease / 3),
        shard=settings.shard,
    )


def slots_of(
    app: Tenure, assignment: Assignment, concurrency: int, queues: Mapping[str, int] | None
) -> Slots:
    """Slots for every queue of the assigned handlers; only for `queues` if some are given."""
    handlers = [handler for handler in app.handlers if assignment.has(handler.kind)]
    if not handlers:
        raise OptionError("the app has no handlers; register some with @app.job before working")
    batches = {queue: said.batch for queue, said in app.handlers.slots.items()}
    if queues is not None:
        return Slots(queues, batches)
    return Slots({queue: _size(app, queue, concurrency) for queue in _queues(handlers)}, batches)


def _queues(handlers: Collection[Handler[Any]]) -> Collection[str]:
    return dict.fromkeys(handler.options.queue for handler in handlers)


def _size(app: Tenure, queue: str, concurrency: int) -> int:
    """The operator's setting, else that of the feature, else the worker's concurrency."""
    said = app.handlers.slots.get(queue, QueueSlots(concurrency))
    return app.settings.queue_slots.get(queue, said.slots)
