"""Limits of the whole fleet, kept while its workers are killed."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from itertools import cycle

import pytest

from tenure import JobFilter, State, Tenure
from tests.crash.marks import Marks
from tests.crash.programs import Program, Programs
from tests.support.until import until

pytestmark = pytest.mark.crash
RUNNING, RATE, BURST = 3, 100, 10
WORKERS = 4
PACED = 300
NARROW = 40
KILLS = 4


def test_a_rate_is_kept_by_the_stores_clock_while_workers_are_killed(
    app: Tenure, programs: Programs
) -> None:
    add(app, "paced", PACED)
    for share in killing(programs):
        until(lambda: started(app) >= PACED * share, 60)  # noqa: B023
    until(lambda: count(app, State.SUCCEEDED) == PACED, 60)

    starts = moments(app)
    assert len(starts) >= PACED
    assert most_in_a_second(starts) <= RATE + BURST
    assert all(fits(starts, place) for place in range(len(starts)))


def test_a_limit_holds_and_a_dead_holders_place_comes_back(
    app: Tenure, programs: Programs, marks: Marks
) -> None:
    add(app, "narrow", NARROW)
    workers = [programs.worker("limited") for _ in range(WORKERS)]
    most = 0

    def full() -> bool:
        nonlocal most
        most = max(most, alive(app))
        return alive(app) == RUNNING

    for _ in range(WORKERS):
        until(full, 60)
        holder = next(one for one in workers if one.pid in holders(app))
        holder.kill()
        holder.wait(20)
        workers.remove(holder)
        until(lambda: holder.pid not in holders(app), 60)  # noqa: B023
        workers.append(programs.worker("limited"))
    until(full, 60)
    marks.open_gate("narrow")
    until(lambda: count(app, State.SUCCEEDED) == NARROW, 60)

    assert most == RUNNING


def holders(app: Tenure) -> set[int]:
    """The processes that hold a job under a lease that is not over."""
    running = app.insight.page(JobFilter(states=(State.RUNNING,))).rows
    now = app.store.now()
    alive = [job for job in running if job.lease_until is not None and job.lease_until > now]
    return {int((job.lease_owner or "::").split(":")[1]) for job in alive}


def killing(programs: Programs) -> Iterator[float]:
    """Says how far the work should get; then a worker is killed and replaced, in turn."""
    workers: list[Program] = [programs.worker("limited") for _ in range(WORKERS)]
    for number, place in zip(range(1, KILLS + 1), cycle(range(WORKERS)), strict=False):
        yield number / (KILLS + 1)
        workers[place].kill()
        workers[place].wait(20)
        workers[place] = programs.worker("limited")


def add(app: Tenure, kind: str, count: int) -> None:
    app.enqueue_many([app.new(kind, max_attempts=20) for _ in range(count)])


def count(app: Tenure, *states: State) -> int:
    return sum(app.insight.counts(JobFilter(states=states)).values())


def started(app: Tenure) -> int:
    return count(app, State.SUCCEEDED, State.RUNNING)


def alive(app: Tenure) -> int:
    """Running jobs under a lease that is not over, by the store's clock at one moment."""
    before = app.store.now().timestamp() * 1e6
    with app.transaction() as tx:
        rows = tx.execute("SELECT lease_until FROM tenure_jobs WHERE state = 1").fetchall()
    after = app.store.now().timestamp() * 1e6
    sure = [row[0] for row in rows if not before <= row[0] < after]
    return sum(until_ >= after for until_ in sure)


def moments(app: Tenure) -> list[int]:
    """Every start that the store has written down: of rows, and of runs that died."""
    with app.transaction() as tx:
        rows = tx.execute(
            "SELECT started_at FROM tenure_jobs WHERE started_at IS NOT NULL UNION ALL "
            "SELECT started_at FROM tenure_attempts WHERE started_at IS NOT NULL"
        ).fetchall()
    return sorted(row[0] for row in rows)


def most_in_a_second(starts: list[int]) -> int:
    return max(bisect_left(starts, at + 1_000_000) - place for place, at in enumerate(starts))


def fits(starts: list[int], place: int) -> bool:
    """Over every span from this start on: no more than the burst and what the span brings."""
    first = starts[place]
    return all(
        number <= BURST + (at - first) / 1e6 * RATE + 1
        for number, at in enumerate(starts[place:], start=1)
    )
