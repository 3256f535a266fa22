"""Processes for handlers that keep a core busy. One process per run, killed with its group.

The child speaks over a pipe: news while it runs, the ending at last. A child that dies without a
word is an error of the run, never of the worker.
"""

from __future__ import annotations

import asyncio
import importlib
import multiprocessing
import os
import signal
import sys
import threading
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

from tenure.codec import decode, encode
from tenure.core.errors import TenureError
from tenure.core.failure import Failure
from tenure.core.lease import ClaimedJob
from tenure.core.outcome import Outcome
from tenure.handlers import Handler
from tenure.running import RunningJob, current_job
from tenure.worker.orphan import die_with_parent
from tenure.worker.run import Run
from tenure.worker.threads import Threads

CHECK_SECONDS = 0.1
NEWS_SECONDS = 0.2


class ProcessError(TenureError):
    """What a child process reported, described over there."""

    code = "process_error"

    def __init__(self, failure: Failure, permanent: bool) -> None:
        super().__init__(failure.message)
        self.failure = failure
        self.permanent = permanent

    @property
    def retryable(self) -> bool:  # type: ignore[override]
        """As the handler's policy said in the child."""
        return not self.permanent


class Processes:
    """Starts children from a clean fork server, so that threads here do no harm there."""

    def __init__(self, threads: Threads) -> None:
        self._threads = threads
        self._context = multiprocessing.get_context("forkserver")
        self._start_lock = threading.Lock()

    async def run(self, current: Run, arguments: dict[str, Any]) -> Any:
        """The handler's value, or what it raised. `arguments` are decoded again in the child."""
        stop = threading.Event()
        current.stop = stop.set
        return await self._threads.call(self._supervise, current, stop)

    def close(self) -> None:
        """Let the watching threads go."""
        self._threads.close()

    def _supervise(self, current: Run, stop: threading.Event) -> Any:
        ours, theirs = self._context.Pipe()
        function = current.handler.function
        name = (function.__module__, function.__qualname__)
        child = self._context.Process(target=_child, args=(theirs, name, current.claimed))
        with self._start_lock:
            child.start()
        theirs.close()
        try:
            return self._listen(current, ours, stop)
        except EOFError:
            child.join(5)
            raise ProcessError(_death(child.exitcode), permanent=False) from None
        finally:
            _kill(child.pid)
            child.join(5)
            ours.close()

    def _listen(self, current: Run, pipe: Connection, stop: threading.Event) -> Any:
        while True:
            if stop.is_set():
                raise asyncio.CancelledError
            if not pipe.poll(CHECK_SECONDS):
                continue
            word, *facts = pipe.recv()
            match word:
                case "progress":
                    current.job.progress(*facts)
                case "log":
                    current.job.log(*facts)
                case "settled":
                    current.job.settled = True
                case "joined":
                    current.job.joined = True
                case "returned":
                    return facts[0]
                case "outcome":
                    raise facts[0]
                case _:
                    raise ProcessError(facts[0], permanent=facts[1])


class ChildJob(RunningJob):
    """The job in the child: its news go over the pipe."""

    def __init__(self, handler: Handler[Any], claimed: ClaimedJob, pipe: Connection) -> None:
        super().__init__(handler.app, claimed)
        self._pipe = pipe

    def progress(self, fraction: float, note: str | None = None) -> None:
        """See RunningJob."""
        super().progress(fraction, note)
        self._pipe.send(("progress", fraction, note))

    def log(self, message: str, level: str = "info") -> None:
        """See RunningJob."""
        self._pipe.send(("log", str(message), level))

    def has_settled(self, *, joined: bool) -> None:
        """The worker hears of it at once: what follows needs no lease any more."""
        super().has_settled(joined=joined)
        self._pipe.send(("joined",) if joined else ("settled",))


def _child(pipe: Connection, name: tuple[str, str], claimed: ClaimedJob) -> None:
    os.setsid()
    die_with_parent()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    threading.Thread(target=_die_with_worker, args=(pipe,), daemon=True).start()
    handler = _find(*name)
    job = ChildJob(handler, claimed, pipe)
    current_job.set(job)
    try:
        arguments = handler.unpack(decode(claimed.payload))
        value = handler.function(job, **arguments)
        if isinstance(value, Outcome):
            raise value
        encode(value, job.app.settings.payload_limit_bytes, "result")
        word: tuple[Any, ...] = ("returned", value)
    except Outcome as outcome:
        outcome.__traceback__ = None
        word = ("outcome", outcome)
    except BaseException as error:
        word = ("raised", Failure.of(error), handler.options.retry.permanent(error))
    pipe.send(word)


def _die_with_worker(pipe: Connection) -> None:
    """The fork server lives as long as its children, so the kernel does not tell us that the
    worker is gone. The pipe does: nothing ever comes from the other end but its end.
    """
    with suppress(OSError):
        pipe.poll(None)
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


def _death(exitcode: int | None) -> Failure:
    how = (
        f"was killed by signal {-exitcode}"
        if exitcode and exitcode < 0
        else f"exited with {exitcode}"
    )
    return Failure(type="ProcessDied", message=f"the process {how}", code="process_died")


def _kill(pid: int | None) -> None:
    """The whole group: a handler may have started programs of its own."""
    if pid is None:
        return
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
