"""`tenure up --workers N`: worker processes beside the API, restarted by a supervisor.

The supervisor is a process of its own, forked before this one has threads. It ends with its parent.
"""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from tenure.cli.commands.worker import Order, begin_apart, work
from tenure.cli.kit import errors
from tenure.cli.kit.log_output import say
from tenure.feature.sentence import Sentence
from tenure.worker.processes.parent_death import die_with_parent
from tenure.worker.supervisor import supervise


class Crew:
    """The supervisor process, seen from its parent."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self.code: int | None = None

    @property
    def ended(self) -> bool:
        """Whether the supervisor has ended, for whatever reason."""
        if self.code is None:
            pid, status = os.waitpid(self._pid, os.WNOHANG)
            self.code = os.waitstatus_to_exitcode(status) if pid else None
        return self.code is not None

    def stop(self) -> None:
        """Ask it to stop. A second call stops it at once."""
        if not self.ended:
            os.kill(self._pid, signal.SIGTERM)

    def kill(self) -> None:
        """Kill it; its workers end with it."""
        if not self.ended:
            os.kill(self._pid, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(self._pid, 0)


@contextmanager
def crew(order: Order, processes: int, listening: socket.socket) -> Iterator[Crew | None]:
    """Start the supervisor; None for zero processes, where the worker runs in this one."""
    if not processes:
        yield None
        return
    parent = os.getpid()

    def keep() -> int:
        listening.close()
        os.setpgrp()  # Ctrl-C reaches the parent alone, which passes it on
        die_with_parent(parent)
        return supervise(lambda place: errors.run(lambda: work(order, place)), processes)

    say(Sentence("info", f"starting {processes} worker processes"))
    made = Crew(begin_apart(keep))
    try:
        yield made
    finally:
        made.kill()
