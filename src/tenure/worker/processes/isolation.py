"""A process of its own for a job that may have killed a worker.

The processes are forked from a clean copy of this one, made before it had threads or connections.
Handlers, settings and imported modules are all there, so any kind of handler can run. If such a
process dies, exactly one job is convicted and no other is harmed.
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
from tenure.worker.processes.process_runs import death, kill_group, listen, traced
from tenure.worker.running.ending import IsolatedCrash, IsolationFailed
from tenure.worker.running.run import Run
from tenure.worker.running.threads import Threads

if TYPE_CHECKING:
    from tenure.app import Tenure

GO = b"!"
ASKED_TO_END = (signal.SIGTERM, signal.SIGINT)
"""Signals that stop a whole group of processes: not the fault of the job."""


class Isolation:
    """The clean copy as the worker sees it. Any thread may ask it for a process."""

    def __init__(self, control: socket.socket, copy: int) -> None:
        self._control = control
        self._copy = copy
        self._lock = threading.Lock()
        self.broken = False

    @classmethod
    def prepare(cls, app: Tenure) -> Isolation | None:
        """Fork the copy; None if other threads are at work, because they would be missing in it."""
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
        """The pipe to a new process. Send it the job; it answers with the id of its group."""
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
        """End the copy. A program that goes on after its worker must not keep a child of it."""
        self._control.close()
        with suppress(ProcessLookupError, ChildProcessError):  # other code has waited for it
            os.kill(self._copy, signal.SIGKILL)
            os.waitpid(self._copy, 0)


class SuspectRuns:
    """Runs each suspect in a process of its own."""

    def __init__(self, isolation: Isolation, threads: Threads) -> None:
        self._isolation = isolation
        self._threads = threads

    def run(self, current: Run, arguments: dict[str, Any]) -> asyncio.Future[Any]:
        """Start it and return the future of its value. The child decodes the `arguments` itself."""
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
            raise IsolationFailed(str(error)) from error
        try:
            return listen(current, pipe, stop)
        except EOFError:
            raise IsolatedCrash("its process died") from None
        finally:
            kill_group(group)
            pipe.close()


def _serve(control: socket.socket, app: Tenure, parent: int) -> NoReturn:
    """In the copy: fork a process for each request, until the worker is gone."""
    try:
        die_with_parent(parent)
        adopt_orphans()
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the children
        gc.freeze()  # a collection would touch, and so copy, every page that is shared
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
    """The parent of the process that runs the job: it survives to tell how that one died."""
    try:
        os.setpgrp()  # so that it can be killed with everything it started
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
