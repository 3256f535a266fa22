"""The other end of a process handler: runs it, sends its news, and does not outlive its worker."""

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
from typing import Any

from tenure.core.failure import Failure
from tenure.core.lease import ClaimedJob
from tenure.core.outcome import Outcome
from tenure.core.settlement import Settlement
from tenure.jobs.codec import encode
from tenure.jobs.handler import Handler
from tenure.jobs.running_job import RunningJob, current_job
from tenure.worker.processes.parent_death import die_with_parent

NEWS_SECONDS = 0.2


class ChildJob(RunningJob):
    """The job in the child: its news go over the pipe, a few times a second."""

    def __init__(self, handler: Handler[Any], claimed: ClaimedJob, pipe: Connection) -> None:
        super().__init__(handler.app, claimed)
        self._pipe = pipe
        self._sending = threading.Lock()

    def send(self, *word: Any) -> None:
        """Handler and watcher speak over one pipe."""
        with self._sending:
            self._pipe.send(word)

    def send_news(self) -> None:
        """What is not sent when the handler settles goes with its settlement."""
        news = self.take_news()
        if news is not None:
            self.send("news", news)

    def has_settled(self, settlement: Settlement, *, joined: bool) -> None:
        """The worker hears of it at once: what follows needs no lease any more."""
        super().has_settled(settlement, joined=joined)
        self.send("joined" if joined else "settled", settlement._replace(result=None))


def run_child(pipe: Connection, name: tuple[str, str], claimed: ClaimedJob) -> None:
    """In a session of its own, so that it can be killed with whatever it started."""
    os.setsid()
    die_with_parent()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    run_handler(pipe, _find(*name), claimed)


def run_handler(pipe: Connection, handler: Handler[Any], claimed: ClaimedJob) -> None:
    """Run it and send its ending; nothing is raised here."""
    job = ChildJob(handler, claimed, pipe)
    threading.Thread(target=_watch, args=(pipe, job), daemon=True).start()
    current_job.set(job)
    try:
        arguments = handler.unpack(claimed.payload)
        value = handler.function(job, **arguments)
        if handler.on_loop:
            value = asyncio.run(value)
        if isinstance(value, Outcome):
            raise value
        text = encode(value, job.app.settings.payload_limit_bytes, "result")
        word: tuple[Any, ...] = ("returned", json.loads(text))
    except Outcome as outcome:
        outcome.__traceback__ = None
        word = ("outcome", outcome)
    except BaseException as error:
        word = ("raised", Failure.of(error), handler.options.retry.permanent(error))
    job.send_news()
    job.send(*word)


def _watch(pipe: Connection, job: ChildJob) -> None:
    """Sends the news. The fork server lives as long as its children, so the kernel does not tell us
    that the worker is gone; the pipe does: nothing ever comes from the other end but its end.
    """
    with suppress(OSError):
        while not pipe.poll(NEWS_SECONDS):
            job.send_news()
    os.killpg(0, signal.SIGKILL)


def _find(module: str, qualname: str) -> Handler[Any]:
    """The decorated name is the handler; multiprocessing has prepared `__main__` for us."""
    found: Any = sys.modules.get("__mp_main__") if module == "__main__" else None
    found = found or importlib.import_module(module)
    for part in qualname.split("."):
        found = getattr(found, part)
    if not isinstance(found, Handler):
        raise TypeError(f"{module}.{qualname} is not the handler any more")
    return found
