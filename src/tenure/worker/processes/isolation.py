"""A process of its own for a job that may have killed a worker.

The processes are forked from a clean copy of this one, made before it had threads or connections:
handlers, settings and everything that was imported are there, whatever the handler looks like. A
death in such a process convicts exactly one job and harms nobody else.
"""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import socket
import threading
from contextlib import suppress
from multiprocessing.connection import Connection, Pipe
from typing import TYPE_CHECKING, Any, NoReturn

from tenure.worker.processes.child import run_handler
from tenure.worker.processes.parent_death import adopt_orphans, die_with_parent
from tenure.worker.processes.process_runs import death, hear, kill_group, traced
from tenure.worker.running.run import DiedApart, NotApart, Run
from tenure.worker.running.threads import Threads

if TYPE_CHECKING:
    from tenure.app import Tenure

GO = b"!"
ASKED_TO_END = (signal.SIGTERM, signal.SIGINT)
"""Somebody stops a whole group of processes: no fault of the job."""


class Isolation:
    """The clean copy, from the worker's side. Any thread may ask it for a process."""

    def __init__(self, control: socket.socket, copy: int) -> None:
        self._control = control
        self._copy = copy
        self._lock = threading.Lock()
        self.broken = False

    @classmethod
    def prepare(cls, app: Tenure) -> Isolation | None:
        """Fork the copy; None where other threads are at work, who would be missing in it."""
        if threading.active_count() > 1:
            return None
        ours, theirs = socket.socketpair()
        parent = os.getpid()
        copy = os.fork()
        if copy == 0:
            ours.close()
            _serve(theirs, app, parent)
        theirs.close()
        return cls(ours, copy)

    def start(self) -> Connection:
        """A new process, by its pipe. It is told the job first, and answers its group's id."""
        ours, theirs = Pipe()
        try:
            with self._lock:
                socket.send_fds(self._control, [GO], [theirs.fileno()])
        except OSError:
            self.broken = True
            ours.close()
            raise
        finally:
            theirs.close()
        return ours

    def close(self) -> None:
        """Let the copy go. A program that goes on after its worker keeps nothing of it."""
        self._control.close()
        with suppress(ProcessLookupError, ChildProcessError):  # somebody else has waited for it
            os.kill(self._copy, signal.SIGKILL)
            os.waitpid(self._copy, 0)


class SuspectRuns:
    """Runs suspects, each in a process of its own."""

    def __init__(self, isolation: Isolation, threads: Threads) -> None:
        self._isolation = isolation
        self._threads = threads

    def run(self, current: Run, arguments: dict[str, Any]) -> asyncio.Future[Any]:
        """The handler's value, or what it raised. `arguments` are decoded again in the child."""
        stop = threading.Event()
        current.stop = stop.set
        return self._threads.submit(self._supervise, current, stop)

    def _supervise(self, current: Run, stop: threading.Event) -> Any:
        try:
            pipe = self._isolation.start()
            pipe.send(traced(current))
            group = int(pipe.recv())
        except (OSError, EOFError) as error:
            self._isolation.broken = True
            raise NotApart(str(error)) from error
        try:
            return hear(current, pipe, stop)
        except EOFError:
            raise DiedApart("its process died") from None
        finally:
            kill_group(group)
            pipe.close()


def _serve(control: socket.socket, app: Tenure, parent: int) -> NoReturn:
    """In the copy: a process for each word, until the worker is gone."""
    try:
        die_with_parent(parent)
        adopt_orphans()
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for them
        gc.freeze()
        while True:
            word, handles, _, _ = socket.recv_fds(control, 1, 1)
            if not word:
                break
            if os.fork() == 0:
                control.close()
                _watch_over(app, Connection(handles[0]))
            os.close(handles[0])
    finally:
        os._exit(0)


def _watch_over(app: Tenure, pipe: Connection) -> NoReturn:
    """The parent of the process that runs the job: it lives to tell how that one died."""
    try:
        os.setpgrp()  # so that it can be killed with whatever it started
        die_with_parent()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        claimed = pipe.recv()
        pipe.send(os.getpid())
        child = os.fork()
        if child == 0:
            die_with_parent()
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, signal.SIG_DFL)
            run_handler(pipe, app.handlers.require(claimed.kind), claimed)
        else:
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            with suppress(OSError):
                pipe.send(("died", death(code), -code in ASKED_TO_END))
    finally:
        os._exit(0)
