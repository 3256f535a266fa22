"""Progress bars on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn


@contextmanager
def progress_bar(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """Yields a function to call with the number done. Draws nothing without a terminal."""
    with _progress() as bar:
        task = bar.add_task(what, total=total)
        yield lambda done: bar.update(task, completed=done)


@contextmanager
def phase_bars(phases: Sequence[str], total: int) -> Iterator[Callable[[str, int], None]]:
    """One bar per phase. Yields a function to call with a phase and how many more are done."""
    with _progress() as bar:
        tasks = {phase: bar.add_task(phase, total=total) for phase in phases}
        yield lambda phase, more: bar.update(tasks[phase], advance=more)


def _progress() -> Progress:
    screen = Console(stderr=True)  # stdout is for the result
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    return Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal)
