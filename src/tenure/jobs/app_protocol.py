"""What handlers, running jobs, references and transactions need of an app.

`tenure.app.Tenure` is the one implementation. This room names only the part that it uses, so that
it does not depend on the app that is built from it.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol, Unpack

from tenure.core.job import Job, NewJob
from tenure.core.origin import Tracing
from tenure.core.signals import Signals
from tenure.settings import Settings
from tenure.stores.contract import Store

if TYPE_CHECKING:
    from tenure.jobs.hooks import Hooks
    from tenure.jobs.options import Options
    from tenure.jobs.reference import JobRef
    from tenure.jobs.registry import Registry
    from tenure.jobs.transaction import OpenTransaction


class App(Protocol):
    """An app as its jobs see it; see `Tenure` for what each name does."""

    url: str
    closed: bool
    settings: Settings
    store: Store
    signals: Signals
    tracing: Tracing | None
    handlers: Registry
    hooks: Hooks

    def enqueue(self, kind: str, payload: Any = None, **options: Unpack[Options]) -> JobRef:
        """Add one job by name."""
        ...

    async def enqueue_async(
        self, kind: str, payload: Any = None, **options: Unpack[Options]
    ) -> JobRef:
        """Add one job by name, from a coroutine."""
        ...

    def enqueue_many(
        self, jobs: Iterable[NewJob], *, tx: Any = None, notify: str | None = None
    ) -> list[JobRef]:
        """Add many jobs, all or none."""
        ...

    async def enqueue_many_async(
        self, jobs: Iterable[NewJob], *, tx: Any = None, notify: str | None = None
    ) -> list[JobRef]:
        """Add many jobs, all or none, from a coroutine."""
        ...

    def transaction(self) -> AbstractContextManager[OpenTransaction]:
        """A transaction for your statements and jobs."""
        ...

    def get(self, job: str | JobRef) -> Job:
        """One job, with payload and result."""
        ...

    def wait(self, job: str | JobRef, seconds: float = 15.0) -> Job:
        """The job as soon as it is final, or as it is after `seconds`."""
        ...

    async def wait_async(self, job: str | JobRef, seconds: float = 15.0) -> Job:
        """The same from a coroutine."""
        ...

    def cancel(self, job: str | JobRef, actor: str = "operator") -> Job:
        """End a waiting job; ask a running one to stop."""
        ...
