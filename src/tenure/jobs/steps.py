"""`job.step(name, fn)`: the result of a step is kept, and later runs do not call it again.

The result is written under the fence, right after the function has returned. A crash between the
two repeats the step, so a function runs at least once; after the write it does not run again.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Any

from tenure.core.errors import CommitUnknown, LeaseLost, OptionError, StepTwice, UsageError
from tenure.jobs.blocking import check_off_loop
from tenure.jobs.codec import decode, encode
from tenure.jobs.options import check_name
from tenure.jobs.transaction import open_here
from tenure.stores.contract import Capability
from tenure.stores.contract.needs import need

if TYPE_CHECKING:
    from tenure.jobs.running_job import RunningJob


class RunSteps:
    """The steps of one run. Results of earlier runs are read with its first step."""

    def __init__(self, job: RunningJob) -> None:
        self._job = job
        self._naming, self._reading = Lock(), Lock()
        self._taken: set[str] = set()
        # The first claim has fence 1: there is no earlier run, and nothing to read.
        self._known: dict[str, str] | None = None if job.fence > 1 else {}

    def run(self, name: str, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """See `RunningJob.step`."""
        check_off_loop("job.step()", "await job.step_async()")
        if inspect.iscoroutinefunction(function):
            raise OptionError(f"the function of step {name!r} is async: await job.step_async()")
        with self._turn(name):
            text = self._recall(name)
            if text is None:
                text = self._remember(name, function(*args, **kwargs))
            return decode(text)

    async def run_async(
        self, name: str, function: Callable[..., Any], *args: Any, **kwargs: Any
    ) -> Any:
        """See `RunningJob.step_async`."""
        with self._turn(name):
            text = await asyncio.to_thread(self._recall, name)
            if text is None:
                value = function(*args, **kwargs)
                if inspect.isawaitable(value):
                    value = await value
                text = await asyncio.to_thread(self._remember, name, value)
            return decode(text)

    @contextmanager
    def _turn(self, name: str) -> Iterator[None]:
        """A name is used once in a run, unless its function failed."""
        check_name("step", name)
        need(self._job.app.store, Capability.STEPS)
        if open_here.get() is not None:
            raise UsageError(
                f"step {name!r} needs a transaction of its own: call it before or after the block "
                "that is open here"
            )
        with self._naming:  # never held while the database is asked: the loop may wait for it
            if name in self._taken:
                raise StepTwice(self._job.id, name)
            self._taken.add(name)
        try:
            yield
        except BaseException:
            self._taken.discard(name)
            raise

    def _recall(self, name: str) -> str | None:
        with self._reading:
            if self._known is None:
                self._known = dict(self._job.app.store.steps.recall(self._job.id))
            return self._known.get(name)

    def _remember(self, name: str, value: Any) -> str:
        """Store the result as JSON, which is decoded for the caller too: the same in every run."""
        limit = self._job.app.settings.payload_limit_bytes
        text = encode(value, limit, f"result of step {name!r}")
        lease, steps = self._job.claimed.lease, self._job.app.store.steps
        try:
            held = steps.remember(lease, name, text)
        # Writing the same result again is harmless; the fence still decides.
        except CommitUnknown:
            held = steps.remember(lease, name, text)
        if not held:
            self._job.stop_reason = "lost"
            raise LeaseLost(self._job.id, lease.fence)
        return text
