"""A fleet of `tenure worker`, many innocent jobs, and a few that kill whatever runs them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tenure import Job, Settings, State, Tenure
from tenure.core.job import OPEN_STATES
from tests.crash.programs import ROOT

POISON_ATTEMPTS = 3
LIMIT_SECONDS = 110.0


@contextmanager
def workers(url: str, processes: int, log: Path, **env: str) -> Iterator[None]:
    """`tenure worker`, as people start it; the abort of a child leaves no core file behind."""
    command = [sys.executable, "-m", "tests.crash.poisoned", "worker", "--app",
               "tests.crash.poison:app", "--processes", str(processes), "--concurrency", "20",
               "--lease-seconds", "2", "--quiet"]  # fmt: skip
    with log.open("wb") as out:
        program = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, "TENURE_DATABASE_URL": url, "TENURE_POLL_SECONDS": "0.2", **env},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
    try:
        yield
    finally:
        program.send_signal(signal.SIGTERM)
        try:
            program.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(program.pid, signal.SIGKILL)
            program.wait(20)


def campaign(
    url: str, folder: Path, innocents: int, poison: int, processes: int = 4, **env: str
) -> list[Job]:
    """All jobs, when every one has ended or the time is over."""
    app = Tenure(url, settings=Settings(auto_migrate=True))
    new = [app.new(f"innocent.{('async', 'thread')[n % 2]}", max_attempts=2)
           for n in range(innocents)]  # fmt: skip
    for number in range(poison):
        kind = ("poison.kill", "poison.abort")[number % 2]
        place = number * innocents // poison
        new.insert(place, app.new(kind, max_attempts=POISON_ATTEMPTS))
    app.enqueue_many(new)
    deadline = time.monotonic() + LIMIT_SECONDS
    with workers(url, processes, folder / "log", **env):
        while time.monotonic() < deadline:
            counts = app.insight.counts()
            if not any(counts.get(state, 0) for state in OPEN_STATES):
                break
            time.sleep(0.2)
    found = list(app.insight.stream())
    app.close()
    return found


def breaches(jobs: list[Job], expected: int) -> list[str]:
    """Each a sentence."""
    return [
        *([] if len(jobs) == expected else [f"{expected - len(jobs)} jobs are lost"]),
        *(told for job in jobs if (told := _breach(job))),
        *(
            f"{job.id} went through {job.crashes} crashes"
            for job in jobs
            if job.crashes > POISON_ATTEMPTS + len([one for one in jobs if is_poison(one)])
        ),
    ]


def is_poison(job: Job) -> bool:
    return job.kind.startswith("poison")


def _breach(job: Job) -> str | None:
    if job.kind.startswith("innocent"):
        if job.state is not State.SUCCEEDED:
            return f"innocent {job.id} is {job.state} ({job.reason})"
        if job.attempt != 1:
            return f"innocent {job.id} was charged: attempt {job.attempt}"
        return None
    if (job.state, job.reason) != (State.DEAD, "worker_crashed"):
        return f"poison {job.id} is {job.state} ({job.reason})"
    if job.attempt != POISON_ATTEMPTS:
        return f"poison {job.id} was buried at attempt {job.attempt}"
    return None
