"""Where a crash test happens: a database, the programs on it, and what they say."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tenure import Tenure
from tests.crash.looking import make_effects_table
from tests.crash.marks import Marks
from tests.crash.programs import Programs


@contextmanager
def ground(database_url: str, folder: Path) -> Iterator[tuple[Tenure, Programs, Marks]]:
    """An app without handlers, with a table for the effects of others. No program outlives it."""
    marks = marks_in(folder)
    with looking_at(database_url) as app, programs_on(database_url, marks) as programs:
        yield app, programs, marks


def marks_in(folder: Path) -> Marks:
    """What the programs of a test say."""
    (place := folder / "marks").mkdir()
    return Marks(place)


@contextmanager
def programs_on(database_url: str, marks: Marks) -> Iterator[Programs]:
    """None of them outlives the test."""
    started = Programs(database_url, marks)
    try:
        yield started
    finally:
        started.end_all()


@contextmanager
def looking_at(database_url: str) -> Iterator[Tenure]:
    """An app without handlers, with a table for the effects of others."""
    make_effects_table(database_url)
    looking = Tenure(database_url)
    yield looking
    looking.close()
