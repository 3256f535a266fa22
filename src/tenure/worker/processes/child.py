"""The child of a process handler: runs it, sends its reports, and does not outlive the worker."""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import signal
import sys
import threading
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any, cast

from tenure.app import Tenure
from tenure.core.failure import Failure
from tenure.core.lease import ClaimedJob
from tenure.core.outcome import Outcome
from tenure.core.rules.by_class import name_of
from tenure.core.settlement import Settlement
from tenure.jobs.codec import encode
from tenure.jobs.declared_jobs import DeclaredHandler
from tenure.jobs.handler import Handler
from tenure.jobs.running_job import RunningJob, current_job
from tenure.jobs.settle_block import Settling
from tenure.worker.processes.parent_death import die_with_parent
from tenure.worker.running.middleware import await_inside, call_inside

NEWS_SECONDS = 0.2


class ChildJob(RunningJob):
    """The job in the child: its reports go over the pipe, a few times a second."""

    def __init__(self, handler: Handler[Any], claimed: ClaimedJob, pipe: Connection) -> None:
        super().__init__(handler.app, claimed)
        self._pipe = pipe
        self._sending = threading.Lock()

    def send(self, *message: Any) -> None:
        """Send one message whole: the handler and the watching thread share the pipe."""
        with self._sending:
            self._pipe.send(message)

    def send_news(self) -> None:
        """Send progress and log lines, if there are any."""
        news = self.take_news()
        if news is not None:
            self.send("news", news)

    def settle(
        self, outcome: Outcome | None = None, *, result: Any = None, tx: Any = None
    ) -> Settling:
        """No worker has loaded the features here, and one may follow the end of this job."""
        cast(Tenure, self.app).features.load()
        return super().settle(outcome, result=result, tx=tx)

    def has_settled(self, settlement: Settlement, *, joined: bool) -> None:
        """Tell the worker at once: what follows needs no lease any more."""
        super().has_settled(settlement, joined=joined)
        self.send("joined" if joined else "settled", settlement._replace(result=None))


def run_child(pipe: Connection, name: tuple[str, str, str], claimed: ClaimedJob) -> None:
    """Run a process handler, in a session of its own: so it is killed with all that it started."""
    os.setsid()
    die_with_parent()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    run_handler(pipe, _find(*name), claimed)


def run_handler(pipe: Connection, handler: Handler[Any], claimed: ClaimedJob) -> None:
    """Run it and send its ending; nothing is raised."""
    job = ChildJob(handler, claimed, pipe)
    threading.Thread(target=_watch, args=(pipe, job), daemon=True).start()
    current_job.set(job)
    try:
        arguments = handler.unpack(claimed.payload)
        value = _call(handler, job, arguments)
        if isinstance(value, Outcome):
            raise value
        text = encode(value, job.app.settings.payload_limit_bytes, "result")
        message: tuple[Any, ...] = ("returned", json.loads(text))
    except Outcome as outcome:
        outcome.__traceback__ = None  # a traceback cannot be sent
        outcome.bound_name = name_of(handler.options.retry, outcome)
        message = ("outcome", outcome)
    except BaseException as error:
        policy = handler.options.retry
        message = ("raised", Failure.of(error), policy.permanent(error), name_of(policy, error))
    job.send_news()
    job.send(*message)


def _call(handler: Handler[Any], job: ChildJob, arguments: dict[str, Any]) -> Any:
    """The handler in its middleware. Around a plain one, async middleware is in the worker."""
    if handler.on_loop:
        return asyncio.run(await_inside(job, arguments, handler))
    return call_inside(job, arguments, handler)


def _watch(pipe: Connection, job: ChildJob) -> None:
    """Send reports, and end with the worker. The parent of this process is the fork server, so the
    kernel does not tell us that the worker is gone. The pipe does: it only ever brings its end.
    """
    with suppress(OSError):
        while not pipe.poll(NEWS_SECONDS):
            job.send_news()
    os.killpg(0, signal.SIGKILL)


def _find(module: str, qualname: str, included_by: str) -> Handler[Any]:
    """The decorated name is the handler, or that of a `Jobs` which another module includes."""
    found: Any = _import(module)
    for part in qualname.split("."):
        found = getattr(found, part)
    if isinstance(found, DeclaredHandler):
        _import(included_by)
        found = found.on(found.target())
    if not isinstance(found, Handler):
        raise TypeError(f"{module}.{qualname} is not the handler any more")
    return found


def _import(module: str) -> Any:
    """A module by name; multiprocessing has prepared `__main__` for us."""
    found = sys.modules.get("__mp_main__") if module == "__main__" else None
    return found or importlib.import_module(module)
