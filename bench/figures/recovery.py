"""How soon a job begins again whose worker was killed, while workers are killed all the time; and
what a few jobs that kill their workers cost all the others.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory

from bench.casualty import FILE
from bench.children import ROOT, end
from bench.databases import fresh, mariadb_server, postgres_server
from bench.figures.scale import Scale
from bench.result import Check, Result, at_most
from tenure import Settings, State, Tenure
from tests.crash.poison_campaign import breaches, campaign

JOBS = 3_000
PROCESSES, SLOTS, LEASE_SECONDS = 4, 4, 3.0
KILLS_EVERY = 0.22
KILLING_SECONDS = 40.0
LIMIT_SECONDS = 110.0
INNOCENTS, POISON = 2_000, 10
Killed = list[tuple[int, float]]


def recovery(scale: Scale) -> Result:
    """Seconds from a worker's death to the next beginning of its jobs, p99, 4-5 kills a second."""
    checks: list[Check] = []
    notes: list[str] = []
    worst = 0.0
    for name, url, folder in stores():
        waits = casualties(url, folder, scale)
        p50, p99 = median(waits), quantiles(waits, n=100)[98]
        worst = max(worst, p99)
        checks.append(at_most(f"{name}: p99 s to begin again", p99, LEASE_SECONDS + 2))
        notes.append(f"{name}: p50 {p50:.1f} s, max {max(waits):.1f} s, {len(waits)} recoveries")
        checks += poison(name, url, folder)
    return Result(
        bench="recovery",
        value=worst,
        unit="s",
        reference=LEASE_SECONDS,
        ratio=worst / (LEASE_SECONDS + 2),
        checks=checks,
        notes=notes,
    )


def stores() -> Iterator[tuple[str, str, Path]]:
    """Each database with a folder of its own."""
    with TemporaryDirectory() as folder:
        yield "SQLite", f"sqlite:///{folder}/jobs.db", Path(folder)
    for name, start in (("PostgreSQL", postgres_server), ("MariaDB", mariadb_server)):
        with start() as server, fresh(server) as url, TemporaryDirectory() as folder:
            yield name, url, Path(folder)


def casualties(url: str, folder: Path, scale: Scale) -> list[float]:
    """From the death of a holder to the next beginning of its job."""
    runs = folder / "runs"
    runs.touch()
    app = Tenure(url, settings=Settings(auto_migrate=True))
    count = scale.rows(JOBS)
    app.enqueue_many([app.new("work", max_attempts=50) for _ in range(count)])
    with fleet(url, runs) as supervisor:
        wait_until(lambda: len(app.insight.workers()) >= PROCESSES)
        killed = kill(supervisor, scale.seconds(KILLING_SECONDS), app, count)
        wait_until(lambda: app.insight.counts().get(State.SUCCEEDED, 0) >= count)
    found = begun_again(app, begun(runs), dict(killed))
    app.close()
    return found


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + LIMIT_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            raise SystemExit("the workers did not come, or did not finish")
        time.sleep(0.1)


@contextmanager
def fleet(url: str, runs: Path) -> Iterator[int]:
    """`tenure worker` with a supervisor; its id."""
    command = [sys.executable, "-m", "tenure", "worker", "--app", "bench.casualty:app",
               "--processes", str(PROCESSES), "--concurrency", str(SLOTS),
               "--lease-seconds", str(LEASE_SECONDS), "--quiet"]  # fmt: skip
    environment = {**os.environ, "TENURE_DATABASE_URL": url, FILE: str(runs)}
    with ExitStack() as stack:
        process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, start_new_session=True
        )
        stack.callback(end, process)
        yield process.pid


def kill(supervisor: int, seconds: float, app: Tenure, count: int) -> Killed:
    """A worker of the fleet every so often, while there is work."""
    killed: Killed = []
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if app.insight.counts().get(State.SUCCEEDED, 0) >= count:
            break
        if workers := children(supervisor):
            victim = random.choice(workers)
            with suppress(ProcessLookupError):
                os.kill(victim, signal.SIGKILL)
                killed.append((victim, time.time()))
        time.sleep(KILLS_EVERY)
    return killed


def children(parent: int) -> list[int]:
    """Processes that it has started."""
    with suppress(FileNotFoundError, ProcessLookupError):
        found = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
        return [int(one) for one in found]
    return []


def begun(runs: Path) -> dict[tuple[str, str], float]:
    """When a job began under a fence."""
    lines = [line.split() for line in runs.read_text().splitlines()]
    return {(job, fence): float(at) for job, fence, at in lines}


def begun_again(
    app: Tenure, began: Mapping[tuple[str, str], float], died: Mapping[int, float]
) -> list[float]:
    """For every holder that was killed: until the next one began; or had the job, where it was
    killed in turn before its handler could say so.
    """
    found = []
    for job in app.insight.stream():
        if not job.crashes:
            continue
        for lost, again in pairwise(app.insight.history(job)):
            death = died.get(int(str(lost.worker).split(":")[1]))
            claimed = again.started_at
            if death is not None and claimed is not None:
                at = began.get((job.id, str(again.fence)), claimed.timestamp())
                found.append(at - death)
    return found


def poison(name: str, url: str, folder: Path) -> list[Check]:
    """What ten jobs that kill their workers cost two thousand others."""
    begun = time.monotonic()
    campaign(url, folder, INNOCENTS, 0)
    without = time.monotonic() - begun
    begun = time.monotonic()
    jobs = [job for job in campaign(url, folder, INNOCENTS, POISON) if job.kind != "work"]
    longer = time.monotonic() - begun - without
    return [
        at_most(f"{name}: s longer with 10 poison jobs among 2,000", longer, 90),
        at_most(f"{name}: innocents charged, lost or not done", len(breaches(jobs, len(jobs))), 0),
    ]
