"""What a worker works on: every kind of its app, or those of the runners that it was limited to."""

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
from tenure.worker.running.slots import Slots
from tenure.worker.settings import WorkerSettings

JOBS = "jobs"


@runtime_checkable
class JobsRunner(Protocol):
    """A runner whose work is jobs: named in WORKER_TICK_RUNNERS it is the jobs runner, limited to
    its kinds; elsewhere the jobs runner does that part, and `run` does whatever there is besides.
    """

    name: str
    lease_seconds: float
    renew_seconds: float

    @property
    def kinds(self) -> Collection[str]:
        """Its jobs."""
        ...

    def run(self, budget: Budget) -> int:
        """The number of other things done."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Kinds (None: all), whose, and for how long they are held and renewed."""

    kinds: Collection[str] | None
    lease_seconds: float
    renew_every: float
    shard: Shard | None = None

    def has(self, kind: str) -> bool:
        """Whether jobs of this kind are taken."""
        return self.kinds is None or kind in self.kinds


def named(app: Tenure, settings: WorkerSettings) -> list[JobsRunner]:
    """The runners of jobs that WORKER_TICK_RUNNERS asks for."""
    wanted = settings.tick_runners
    return [one for one in app.runners if isinstance(one, JobsRunner) and one.name in wanted]


def scope_of(app: Tenure, settings: WorkerSettings) -> Scope:
    """Runners of jobs that are named, and `jobs` is not: their kinds alone, on their leases."""
    alone = [] if JOBS in settings.tick_runners else named(app, settings)
    if not alone:
        return Scope(
            kinds=None,
            lease_seconds=app.settings.lease_seconds,
            renew_every=app.settings.renew_every,
            shard=settings.shard,
        )
    lease = min(one.lease_seconds for one in alone)
    renew = min(one.renew_seconds for one in alone)
    return Scope(
        kinds=tuple(kind for one in alone for kind in one.kinds),
        lease_seconds=lease,
        renew_every=min(renew, lease / 3),
        shard=settings.shard,
    )


def slots_of(
    app: Tenure, scope: Scope, concurrency: int, queues: Mapping[str, int] | None
) -> Slots:
    """Slots for every queue of the handlers in scope; given ones only, where some are given."""
    handlers = [handler for handler in app.handlers if scope.has(handler.kind)]
    if not handlers:
        raise OptionError("the app has no handlers; register some with @app.job before working")
    batches = {queue: said.batch for queue, said in app.handlers.slots.items()}
    if queues is not None:
        return Slots(queues, batches)
    return Slots({queue: _size(app, queue, concurrency) for queue in _queues(handlers)}, batches)


def _queues(handlers: Collection[Handler[Any]]) -> Collection[str]:
    return dict.fromkeys(handler.options.queue for handler in handlers)


def _size(app: Tenure, queue: str, concurrency: int) -> int:
    """What the operator says, else the feature whose queue it is, else as many as of any queue."""
    said = app.handlers.slots.get(queue, QueueSlots(concurrency))
    return app.settings.queue_slots.get(queue, said.slots)
