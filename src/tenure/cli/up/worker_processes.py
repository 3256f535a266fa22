"""`tenure up --workers n`: worker processes beside the API, replaced by a supervisor when they die.

The supervisor is a process of its own, forked before this one has threads. It dies with us.
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
    """The supervisor as its parent sees it."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self.code: int | None = None

    @property
    def ended(self) -> bool:
        """Whether it is gone, by itself or because it was told."""
        if self.code is None:
            pid, status = os.waitpid(self._pid, os.WNOHANG)
            self.code = os.waitstatus_to_exitcode(status) if pid else None
        return self.code is not None

    def stop(self) -> None:
        """Ask it to stop; asked again, it hurries."""
        if not self.ended:
            os.kill(self._pid, signal.SIGTERM)

    def kill(self) -> None:
        """At once; its workers go with it."""
        if not self.ended:
            os.kill(self._pid, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(self._pid, 0)


@contextmanager
def crew(order: Order, processes: int, listening: socket.socket) -> Iterator[Crew | None]:
    """None where no process is asked for: then the worker is in this one."""
    if not processes:
        yield None
        return
    parent = os.getpid()

    def keep() -> int:
        listening.close()
        os.setpgrp()  # Ctrl-C reaches the parent alone, which passes it on
        die_with_parent(parent)
        return supervise(lambda place: errors.run(lambda: work(order, place)), processes)

    say(Sentence("info", f"{processes} worker processes start"))
    made = Crew(begin_apart(keep))
    try:
        yield made
    finally:
        made.kill()
