"""The supervisor keeps its children alive, slows down where they cannot live, and never leaves
them behind. It needs no database.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from tenure import Tenure
from tests.crash.looking import ended
from tests.crash.marks import Marks
from tests.crash.programs import Program, Programs, is_alive
from tests.support.until import until

pytestmark = pytest.mark.crash


@pytest.fixture
def programs(tmp_path: Path, marks: Marks) -> Iterator[Programs]:
    """Programs on one SQLite file."""
    started = Programs(url_in(tmp_path), marks)
    try:
        yield started
    finally:
        started.end_all()


def url_in(folder: Path) -> str:
    return f"sqlite:///{folder / 'supervised.db'}"


def children(marks: Marks, count: int, event: str = "child") -> list[int]:
    """The first so many children, by process id."""
    return [one["by"] for one in until(lambda: enough(marks, event, count))]


def enough(marks: Marks, event: str, count: int) -> list[dict[str, int]]:
    found = marks.find(event)
    return found if len(found) >= count else []


def kill(pid: int) -> None:
    import os

    os.kill(pid, signal.SIGKILL)


def test_a_killed_child_is_replaced_at_once(programs: Programs, marks: Marks) -> None:
    parent = programs.start("supervised", "wait", "2")
    first, second = children(marks, 2)

    kill(first)
    third = children(marks, 3)[-1]

    assert third not in (first, second)
    assert is_alive(second) and is_alive(third)
    check_ends_well(parent, second, third)


def test_children_that_die_young_are_born_with_growing_pauses(
    programs: Programs, marks: Marks
) -> None:
    parent = programs.start("supervised", "die", "1")

    children(marks, 5)

    born = [one["at"] for one in marks.find("child")]
    pauses = [later - earlier for earlier, later in pairwise(born)][-3:]
    assert all(later > earlier * 1.5 for earlier, later in pairwise(pauses))
    assert parent.wait(20) == 1  # it does not go on for ever where none can start
    assert "5 starts failed in a row" in (marks.folder / "log").read_text()


def test_processes_that_jobs_kill_do_not_end_the_supervisor(
    programs: Programs, marks: Marks
) -> None:
    """A crash is not a failed start, however young the process: another job comes next."""
    parent = programs.start("supervised", "crash", "3")

    children(marks, 3 + 4 + 1)

    assert parent.poll() is None


def test_a_killed_supervisor_takes_its_children_along(programs: Programs, marks: Marks) -> None:
    parent = programs.start("supervised", "wait", "3")
    alive = children(marks, 3)

    parent.send_signal(signal.SIGKILL)

    until(lambda: not any(is_alive(child) for child in alive))


def test_supervised_workers_work_and_stop_in_good_order(
    programs: Programs, marks: Marks, tmp_path: Path
) -> None:
    parent = programs.start("supervised", "work", "2")
    workers = children(marks, 2, "worker.started")
    app = Tenure(url_in(tmp_path))
    jobs = [app.enqueue("quick") for _ in range(20)]

    done = ended(app, *jobs)
    app.close()

    assert {row.result["pid"] for row in done} <= set(workers)
    check_ends_well(parent, *workers)
    assert len(marks.find("worker.stopped")) == 2


def test_a_supervisor_that_is_stopped_before_its_children_are_ready_ends_well(
    programs: Programs, marks: Marks
) -> None:
    parent = programs.start("supervised", "work", "3")
    alive = children(marks, 3, "born")

    check_ends_well(parent, *alive)


def check_ends_well(parent: Program, *alive: int) -> None:
    parent.send_signal(signal.SIGTERM)
    assert parent.wait(20) == 0
    assert not any(is_alive(child) for child in alive)
