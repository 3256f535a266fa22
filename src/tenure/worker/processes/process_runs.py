"""Processes for handlers that keep a core busy. One process per run, killed with its group.

The child speaks over a pipe: news while it runs, the ending at last. A child that dies without a
word is an error of the run, never of the worker.
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
from tenure.worker.running.run import DiedApart, Run
from tenure.worker.running.threads import Threads
from tenure.worker.settling.progress_reports import write_news

CHECK_SECONDS = 0.1


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

    def run(self, current: Run, arguments: dict[str, Any]) -> asyncio.Future[Any]:
        """The handler's value, or what it raised. `arguments` are decoded again in the child."""
        stop = threading.Event()
        current.stop = stop.set
        return self._threads.submit(self._supervise, current, stop)

    def close(self) -> None:
        """Let the watching threads go."""
        self._threads.close()

    def _supervise(self, current: Run, stop: threading.Event) -> Any:
        ours, theirs = self._context.Pipe()
        name = current.handler.import_path
        child = self._context.Process(target=run_child, args=(theirs, name, traced(current)))
        with self._start_lock:
            child.start()
        theirs.close()
        try:
            return hear(current, ours, stop)
        except EOFError:
            child.join(5)
            raise ProcessError(death(child.exitcode), permanent=False) from None
        finally:
            kill_group(child.pid)
            child.join(5)
            ours.close()


def hear(current: Run, pipe: Connection, stop: threading.Event) -> Any:
    """What a child says, to its last word: the handler's value, or what it raised."""
    while True:
        if stop.is_set():
            raise asyncio.CancelledError
        if not pipe.poll(CHECK_SECONDS):
            continue
        word, *facts = _next_word(pipe)
        match word:
            case "news":
                with suppress(StoreUnavailable):  # as it is with a heartbeat
                    write_news(current.job.app.store.jobs, current.job.app.signals, facts)
            case "settled" | "joined":
                current.job.has_settled(facts[0], joined=word == "joined")
            case "returned":
                return facts[0]
            case "outcome":
                raise facts[0]
            case "died":
                raise DiedApart(facts[0].message, asked=facts[1])
            case _:
                raise ProcessError(facts[0], permanent=facts[1])


def _next_word(pipe: Connection) -> Any:
    """A child may die in the middle of a word."""
    try:
        return pipe.recv()
    except EOFError:
        raise
    except Exception as error:
        raise EOFError from error


def traced(current: Run) -> ClaimedJob:
    """What the child enqueues belongs to this run; its spans stay here."""
    claimed, tracing = current.claimed, current.job.app.tracing
    if tracing is None:
        return claimed
    return claimed._replace(trace=tracing.here() or claimed.trace)


def death(exitcode: int | None) -> Failure:
    how = (
        f"was killed by signal {-exitcode}"
        if exitcode and exitcode < 0
        else f"exited with {exitcode}"
    )
    return Failure(type="ProcessDied", message=f"the process {how}", code="process_died")


def kill_group(pid: int | None) -> None:
    """The whole group: a handler may have started programs of its own."""
    if pid is None:
        return
    for kill in (os.killpg, os.kill):  # the second where it had not yet a group of its own
        with suppress(ProcessLookupError, PermissionError):
            kill(pid, signal.SIGKILL)
