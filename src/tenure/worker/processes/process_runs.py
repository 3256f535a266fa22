"""Processes for handlers that keep a core busy: one process per run, killed with its group.

The child sends messages over a pipe: reports while it runs, then its ending. A child that dies
without an ending is an error of the run, never of the worker.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import threading
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

from tenure.core.errors import StoreUnavailable, TenureError
from tenure.core.failure import Failure
from tenure.core.lease import ClaimedJob
from tenure.worker.processes.child import run_child
from tenure.worker.running.ending import IsolatedCrash
from tenure.worker.running.run import Run
from tenure.worker.running.threads import Threads
from tenure.worker.settling.progress_reports import write_reports

CHECK_SECONDS = 0.1


class ProcessError(TenureError):
    """An error in a child process, described there: the exception itself may not be sendable."""

    code = "process_error"

    def __init__(self, failure: Failure, permanent: bool, bound_name: str | None = None) -> None:
        super().__init__(failure.message)
        self.failure = failure
        self.permanent = permanent
        self.bound_name = bound_name

    @property
    def retryable(self) -> bool:  # type: ignore[override]
        """As the handler's retry policy decided in the child."""
        return not self.permanent


class ProcessRuns:
    """Starts children from a clean fork server: a fork of this process could inherit locks that
    its threads hold, and wait for them for ever.
    """

    def __init__(self, threads: Threads) -> None:
        self._threads = threads
        self._context = multiprocessing.get_context("forkserver")
        self._start_lock = threading.Lock()

    def run(self, current: Run, arguments: dict[str, Any]) -> asyncio.Future[Any]:
        """Start it and return the future of its value. The child decodes the `arguments` itself."""
        stop = threading.Event()
        current.stop = stop.set
        return self._threads.submit(self._supervise, current, stop)

    def _supervise(self, current: Run, stop: threading.Event) -> Any:
        ours, theirs = self._context.Pipe()
        name = current.handler.import_path
        child = self._context.Process(target=run_child, args=(theirs, name, traced(current)))
        with self._start_lock:  # multiprocessing does not allow starts from several threads at once
            child.start()
        theirs.close()
        try:
            return listen(current, ours, stop)
        except EOFError:
            child.join(5)
            raise ProcessError(death(child.exitcode), permanent=False) from None
        finally:
            kill_group(child.pid)
            child.join(5)
            ours.close()


def listen(current: Run, pipe: Connection, stop: threading.Event) -> Any:
    """Read the child's messages to the last: the handler's value, or what it raised."""
    while True:
        if stop.is_set():
            raise asyncio.CancelledError
        if not pipe.poll(CHECK_SECONDS):
            continue
        name, *facts = _next_message(pipe)
        match name:
            case "news":
                with suppress(StoreUnavailable):  # reports may be lost, the run goes on
                    write_reports(current.job.app.store.jobs, current.job.app.signals, facts)
            case "settled" | "joined":
                current.job.has_settled(facts[0], joined=name == "joined")
            case "returned":
                return facts[0]
            case "outcome":
                raise facts[0]
            case "died":
                raise IsolatedCrash(facts[0].message, asked=facts[1])
            case _:
                raise ProcessError(facts[0], permanent=facts[1], bound_name=facts[2])


def _next_message(pipe: Connection) -> Any:
    """EOFError if the child has died, even in the middle of a message."""
    try:
        return pipe.recv()
    except EOFError:
        raise
    except Exception as error:
        raise EOFError from error


def traced(current: Run) -> ClaimedJob:
    """With the trace of this run, so that what the child enqueues belongs to it."""
    claimed, tracing = current.claimed, current.job.app.tracing
    if tracing is None:
        return claimed
    return claimed._replace(trace=tracing.here() or claimed.trace)


def death(exitcode: int | None) -> Failure:
    """How a child died, as history tells it."""
    how = (
        f"was killed by signal {-exitcode}"
        if exitcode and exitcode < 0
        else f"exited with {exitcode}"
    )
    return Failure(type="ProcessDied", message=f"the process {how}", code="process_died")


def kill_group(pid: int | None) -> None:
    """Kill the whole group: a handler may have started programs of its own."""
    if pid is None:
        return
    for kill in (os.killpg, os.kill):  # the second if it had no group of its own yet
        with suppress(ProcessLookupError, PermissionError):
            kill(pid, signal.SIGKILL)
