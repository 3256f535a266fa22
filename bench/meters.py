"""What the measurements read and print: CPU, memory, milliseconds at the client, tables."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from statistics import median
from typing import ParamSpec

Arguments = ParamSpec("Arguments")


def cpu_seconds(root: int) -> float:
    """CPU of a process, its threads, its living descendants and the children it has reaped."""
    parents = {int(process.name): _parent(process) for process in _processes()}
    total, todo = _reaped_seconds(root), [root]
    while todo:
        pid = todo.pop()
        total += _own_seconds(Path("/proc") / str(pid))
        todo += [child for child, parent in parents.items() if parent == pid]
    return total


def rss_mebibytes(pid: int) -> float:
    """Resident memory of one process."""
    pages = int((Path("/proc") / str(pid) / "statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def percentile(values: Sequence[float], part: float) -> float:
    """The value that this part of them does not exceed."""
    return sorted(values)[min(len(values) - 1, int(len(values) * part))]


def _processes() -> list[Path]:
    return list(Path("/proc").glob("[0-9]*"))


def _parent(process: Path) -> int:
    """0 for a process that ended while we looked."""
    with suppress(OSError):
        return int(_stat(process)[1])
    return 0


def _own_seconds(process: Path) -> float:
    """The kernel counts a running thread in nanoseconds."""
    total = 0
    with suppress(OSError):
        for task in (process / "task").iterdir():
            with suppress(OSError):
                total += int((task / "schedstat").read_text().split()[0])
    return total / 1e9


def _reaped_seconds(pid: int) -> float:
    """A server's backend that has gone is counted with its parent, in ticks of 10 ms."""
    with suppress(OSError):
        user, system = _stat(Path("/proc") / str(pid))[13:15]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")
    return 0.0


def _stat(process: Path) -> list[str]:
    return (process / "stat").read_text().rsplit(")", 1)[1].split()


def timed(
    reps: int,
    work: Callable[Arguments, object],
    *args: Arguments.args,
    **kwargs: Arguments.kwargs,
) -> float:
    """Median milliseconds at the client."""
    times = []
    for _ in range(reps):
        begun = time.perf_counter()
        work(*args, **kwargs)
        times.append((time.perf_counter() - begun) * 1e3)
    return median(times)


def table(title: str, head: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print one markdown table."""
    print(f"\n### {title}\n")
    print(_line(head))
    print("|" + "---|" * len(head))
    for row in rows:
        print(_line([f"{cell:.2f}" if isinstance(cell, float) else cell for cell in row]))
    print(flush=True)


def _line(cells: Sequence[object]) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"
