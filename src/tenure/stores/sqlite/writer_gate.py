"""One writer of this process at a time. The others wait on a lock instead of polling the file."""

from __future__ import annotations

import os
import threading

from tenure.core.errors import OutsideTransaction
from tenure.stores.sqlite.trouble import Busy


class WriterGate:
    """The gate of one file. `waiting_seconds` bounds how long a writer waits for its turn."""

    def __init__(self, waiting_seconds: float) -> None:
        self._waiting_seconds = waiting_seconds
        self._lock = threading.Lock()
        self._holder: int | None = None

    def enter(self) -> None:
        """Wait for our turn. A thread that already writes would wait for itself for ever."""
        if self._holder == threading.get_ident():
            raise OutsideTransaction
        if not self._lock.acquire(timeout=self._waiting_seconds):
            raise Busy("another transaction of this process keeps the file")
        self._holder = threading.get_ident()

    def leave(self) -> None:
        """Let the next writer in."""
        self._holder = None
        self._lock.release()


_gates: dict[str, WriterGate] = {}
_gates_lock = threading.Lock()


def writer_gate(path: str, waiting_seconds: float) -> WriterGate:
    """The gate of a file in this process, whichever links lead to it."""
    with _gates_lock:
        return _gates.setdefault(os.path.realpath(path), WriterGate(waiting_seconds))


def _forget_gates() -> None:
    """In a forked child nobody holds a gate, whatever the parent's threads did."""
    global _gates_lock
    _gates.clear()
    _gates_lock = threading.Lock()


os.register_at_fork(after_in_child=_forget_gates)
