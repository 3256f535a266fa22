"""A measured process: started, asked by lines of text, and ended whatever happens."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PATIENCE_SECONDS = 300.0


class Child:
    """A Python module of ours in a process of its own that answers each line with one line."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.pid = process.pid

    def tell(self, *words: object) -> None:
        """Send a command."""
        if self._process.stdin is None:
            raise AssertionError("it was started with a pipe")
        self._process.stdin.write(" ".join(map(str, words)) + "\n")
        self._process.stdin.flush()

    def answer(self, seconds: float = PATIENCE_SECONDS) -> Any:
        """The next line it prints, as JSON."""
        output = self._process.stdout
        if output is None:
            raise AssertionError("it was started with a pipe")
        ready, _, _ = select.select([output], [], [], seconds)
        line = output.readline() if ready else ""
        if not line:
            raise SystemExit(f"a measured process gave no answer within {seconds:.0f} s")
        return json.loads(line)

    def ask(self, *words: object) -> Any:
        """A command and its answer."""
        self.tell(*words)
        return self.answer()


@contextmanager
def child(
    module: str,
    *arguments: object,
    python: str | Path = sys.executable,
    environment: Mapping[str, str] | None = None,
) -> Iterator[Child]:
    """Start `python -m module`; its whole process group is ended afterwards."""
    process = subprocess.Popen(
        [str(python), "-m", module, *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, **(environment or {})},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
        start_new_session=True,
    )
    try:
        yield Child(process)
    finally:
        end(process)


def end_in_order() -> None:
    """A SIGTERM unwinds like Ctrl-C does: servers and workers are stopped, files removed."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))


def end(process: subprocess.Popen[Any]) -> None:
    """Ask its group to end, then insist."""
    for number, seconds in ((signal.SIGTERM, 5.0), (signal.SIGKILL, 5.0)):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()
