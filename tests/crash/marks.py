"""How programs and tests talk: marks that outlive a `kill -9`, and gates that tests open.

A mark is one line appended to one file by one write; whoever dies next cannot take it back.
"""

from __future__ import annotations

import json
import os
import threading
import time
from pathlib import Path
from typing import Any

FOLDER = "CRASH_FOLDER"
Mark = dict[str, Any]


def mark(event: str, **facts: Any) -> None:
    """Leave a mark. For the programs."""
    line = {"event": event, "by": os.getpid(), "at": time.monotonic(), **facts}
    target = os.open(_folder() / "marks", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(target, (json.dumps(line, default=str) + "\n").encode())
    finally:
        os.close(target)


def is_open(gate: str) -> bool:
    """Whether somebody opened the gate. For the programs."""
    return (_folder() / f"gate-{gate}").exists()


def run_number_of(name: str) -> int:
    """How many came here, with this one."""
    for number in range(1, 1_000):
        try:
            os.close(os.open(_folder() / f"run-{name}-{number}", os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            continue
        return number
    raise RuntimeError(f"{name} was begun a thousand times")


def open_gate(gate: str) -> None:
    """Let everybody pass who waits at it."""
    (_folder() / f"gate-{gate}").touch()


def _folder() -> Path:
    return Path(os.environ[FOLDER])


class Marks:
    """The marks of all programs of one test."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._seen: list[Mark] = []
        self._read = 0
        self._lock = threading.Lock()

    def open_gate(self, gate: str) -> None:
        """Let everybody pass who waits at it."""
        (self.folder / f"gate-{gate}").touch()

    def new(self) -> list[Mark]:
        """Those left since the last look; several threads of a test may look."""
        with self._lock:
            return self._new()

    def _new(self) -> list[Mark]:
        path = self.folder / "marks"
        if not path.exists():
            return []
        with path.open("rb") as file:
            file.seek(self._read)
            whole = file.read().rpartition(b"\n")[0]
        self._read += len(whole) + 1 if whole else 0
        found = [json.loads(line) for line in whole.splitlines()]
        self._seen += found
        return found

    def find(self, event: str, **facts: Any) -> list[Mark]:
        """Every mark of this event with these facts, oldest first."""
        self.new()
        return [
            one
            for one in self._seen
            if one["event"] == event and all(one.get(key) == facts[key] for key in facts)
        ]

    def all(self) -> list[Mark]:
        """Every mark, oldest first."""
        self.new()
        return list(self._seen)
