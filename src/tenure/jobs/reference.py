"""What enqueue returns: the id of a job, and methods to wait for it and read its result."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tenure.core.errors import OptionError, TenureError
from tenure.core.job import Job, State

if TYPE_CHECKING:
    from tenure.jobs.app_protocol import App


class JobFailed(TenureError):
    """The job ended without a result."""

    code = "job_failed"

    def __init__(self, job_id: str, state: str, reason: str | None) -> None:
        told = f" ({reason})" if reason else ""
        super().__init__(
            f"job {job_id} ended {state}{told}; run tenure jobs show {job_id} for details"
        )
        self.job_id = job_id
        self.state = state
        self.reason = reason


@dataclass(frozen=True, slots=True)
class JobRef:
    """The answer to an enqueue. `created` is False if a job with this unique key was there already.

    >>> ref = render.enqueue(invoice_id=42)      # doctest: +SKIP
    >>> ref.result(timeout=30)                   # doctest: +SKIP
    {'file': 'invoice-42.pdf'}
    """

    id: str
    created: bool = True
    app: App | None = field(default=None, repr=False, compare=False)

    def job(self) -> Job:
        """The job as it is now, with payload and result."""
        return self._app.get(self)

    def wait(self, timeout: float = 15.0) -> Job:
        """The job as soon as it is final, or as it is after `timeout` seconds."""
        return self._app.wait(self, timeout)

    async def wait_async(self, timeout: float = 15.0) -> Job:
        """The same from a coroutine."""
        return await self._app.wait_async(self, timeout)

    def result(self, timeout: float = 15.0) -> Any:
        """What the handler returned.

        Raises JobFailed if the job ended in another way, TimeoutError if it has not ended in time.
        """
        return _result(self.wait(timeout), timeout)

    async def result_async(self, timeout: float = 15.0) -> Any:
        """The same from a coroutine."""
        return _result(await self.wait_async(timeout), timeout)

    def cancel(self) -> Job:
        """A waiting job ends at once; a running one is asked to stop."""
        return self._app.cancel(self)

    @property
    def _app(self) -> App:
        if self.app is None:
            raise OptionError(f"this reference to job {self.id} has no app: use app.get()")
        return self.app


def _result(job: Job, timeout: float) -> Any:
    if not job.state.final:
        raise TimeoutError(f"job {job.id} is still {job.state} after {timeout:g} s")
    if job.state is not State.SUCCEEDED:
        raise JobFailed(job.id, job.state, job.reason)
    return job.result
