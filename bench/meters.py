"""What the measurements read and print: CPU of a server, milliseconds at the client, tables."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from statistics import median
from typing import ParamSpec

Arguments = ParamSpec("Arguments")


def cpu_seconds(root: int) -> float:
    """CPU of a process, all its threads and its children (nanosecond counters of /proc)."""
    total = 0
    for process in Path("/proc").glob("[0-9]*"):
        # A process or thread may end while it is read.
        with suppress(OSError):
            if root in (int(process.name), _parent(process)):
                total += sum(_nanoseconds(task) for task in (process / "task").iterdir())
    return total / 1e9


def _parent(process: Path) -> int:
    return int((process / "stat").read_text().rsplit(")", 1)[1].split()[1])


def _nanoseconds(task: Path) -> int:
    return int((task / "schedstat").read_text().split()[0])


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
