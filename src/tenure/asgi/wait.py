"""A route that waits for a job and answers with its result, or asks the client to come again.

200 with the result, 202 with Retry-After while it is pending, 422 if it has failed.
"""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs

from tenure.app import Tenure
from tenure.asgi.messages import Receive, Scope, Send, answer, lines, problem
from tenure.core.errors import InputError, JobNotFound
from tenure.core.job import Job, State
from tenure.jobs.reference import JobRef

DEFAULT_MS = 15_000
MOST_MS = 30_000
RETRY_MS = 2_000
PREFERRED = re.compile(r"(?:^|[,;\s])wait\s*=\s*\"?(\d{1,18})\"?\s*(?:$|[,;])", re.IGNORECASE)

Ensure = Callable[[Scope], Awaitable[JobRef | str | None]]
Shape = Callable[[Job], Awaitable[dict[str, Any]]]


class BadWait(InputError):
    """The request has a wrong waiting time."""

    code = "bad_wait"


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait, and whether the client asked by `Prefer`."""

    seconds: float
    preferred: bool = False

    @property
    def headers(self) -> dict[str, str]:
        """`Preference-Applied`, if the client asked by `Prefer`."""
        if not self.preferred:
            return {}
        return {"preference-applied": f"wait={math.floor(self.seconds)}"}


async def plain(job: Job) -> dict[str, Any]:
    """The default body of a 200."""
    return {"status": "READY", "jobId": job.id, "result": job.result}


class WaitRoute:
    """An ASGI app that waits for one kind of job.

    `ensure(scope)` enqueues the job once (with a key) and returns its reference or id, or None for
    404. `ready` makes the body of the 200. Waits are limited to 30,000 ms; what is not a number is
    a 400. While `closing()` is true, requests do not wait: the answer is the job as it is.

    >>> async def ensure(scope):
    ...     number = scope["path_params"]["invoice_id"]
    ...     once = render.using(key=f"inv:{number}", key_window=3_600)
    ...     return await once.enqueue_async(invoice_id=number)
    >>> pdf = WaitRoute(app, ensure, error="INVOICE_PDF_RENDER_FAILED")    # doctest: +SKIP
    """

    def __init__(
        self,
        app: Tenure,
        ensure: Ensure,
        *,
        ready: Shape = plain,
        error: str = "JOB_FAILED",
        closing: Callable[[], bool] = lambda: False,
    ) -> None:
        self._app = app
        self._ensure = ensure
        self._ready = ready
        self._error = error
        self._closing = closing

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        try:
            patience = patience_of(scope)
        except BadWait as error:
            await problem(scope, send, 400, str(error), code=error.code)
            return
        named = await self._ensure(scope)
        if named is None:
            await problem(scope, send, 404, "there is nothing to wait for")
            return
        try:
            job = await self._wait(named, patience, receive)
        except JobNotFound as error:
            await problem(scope, send, 404, str(error), code=error.code)
            return
        if job is not None:
            await self._answer(send, job, patience)

    async def _wait(self, named: JobRef | str, patience: Patience, receive: Receive) -> Job | None:
        """The job, final or not; None if the client has disconnected."""
        seconds = 0.0 if self._closing() else patience.seconds
        waiting = asyncio.ensure_future(self._app.wait_async(named, seconds))
        # A wait of 30 s whose client has gone would hold its waiter for nothing.
        leaving = asyncio.ensure_future(_gone(receive))
        try:
            await asyncio.wait({waiting, leaving}, return_when=asyncio.FIRST_COMPLETED)
            return await waiting if waiting.done() else None
        finally:
            for task in (waiting, leaving):
                task.cancel()
            await asyncio.wait({waiting, leaving})

    async def _answer(self, send: Send, job: Job, patience: Patience) -> None:
        if job.state is State.SUCCEEDED:
            await answer(send, 200, await self._ready(job), patience.headers)
        elif job.state.final:
            failed = {"error": self._error, "jobId": job.id, "state": job.state,
                      "reason": job.reason}  # fmt: skip
            await answer(send, 422, failed, patience.headers)
        else:
            later = {"retry-after": str(math.ceil(RETRY_MS / 1_000)), **patience.headers}
            pending = {"status": "PENDING", "retryAfterMs": RETRY_MS, "jobId": job.id}
            await answer(send, 202, pending, later)


def patience_of(scope: Scope) -> Patience:
    """`waitMs` in the query, else `Prefer: wait=SECONDS`, else 15 s; never more than 30 s."""
    given = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("waitMs")
    if given is not None:
        # The last one counts, as with most frameworks, if it is given twice.
        if not (given[-1].isascii() and given[-1].isdigit()):
            raise BadWait(f"waitMs must be a number of milliseconds, not {given[-1][:40]!r}")
        return Patience(min(int(given[-1][:9]), MOST_MS) / 1_000)
    wish = PREFERRED.search(", ".join(lines(scope, "prefer")))
    if wish is None:
        return Patience(DEFAULT_MS / 1_000)
    return Patience(min(int(wish[1]) * 1_000, MOST_MS) / 1_000, preferred=True)


async def _gone(receive: Receive) -> None:
    """Return when the client has disconnected."""
    while (await receive())["type"] != "http.disconnect":
        continue
