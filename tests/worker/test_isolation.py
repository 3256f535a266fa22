"""Suspects in processes of their own: they end there as they would in the worker."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tenure import Cancel, Delays, Fail, Job, Retry, RunningJob, Settings, State, Tenure
from tenure.testing.conformance.actions import claim_all
from tests.support.until import until

ROOT = Path(__file__).parents[2]
APP = "tests.worker.test_isolation:app"
app = Tenure(os.environ.get("TENURE_DATABASE_URL", "sqlite:///unused.db"))


@app.job("returns")
async def returns(job: RunningJob) -> dict[str, int]:
    job.log(f"in {os.getpid()}")
    await asyncio.sleep(0)
    return {"pid": os.getpid(), "worker": int(job.claimed.lease.owner.split(":")[1])}


@app.job("fails")
def fails(job: RunningJob) -> None:
    raise Fail("no such thing", code="gone")


@app.job("retries", retry=Delays(0.0))
def retries(job: RunningJob) -> int:
    if job.attempt == 1:
        raise Retry("once more")
    return job.attempt


@app.job("calls off")
async def calls_off(job: RunningJob) -> None:
    raise Cancel("not wanted")


@app.job("settles")
def settles(job: RunningJob) -> None:
    with job.settle(result="mine") as tx:
        tx.enqueue("returns", key="follow-up")


@app.job("leaves")
def leaves(job: RunningJob) -> None:
    os._exit(0)


@app.job("exits", retry=Delays())
def exits(job: RunningJob) -> None:
    sys.exit(3)


@app.job("unheard of", retry=Delays(0.0))
def unheard_of(job: RunningJob) -> object:
    return object()


@app.job("stopped by all", retry=Delays(0.0))
def stopped_by_all(job: RunningJob) -> str:
    if not job.claimed.refunds > 1:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(30)
    return "done"


@app.job("endless", timeout=0.5, retry=Delays())
def endless(job: RunningJob) -> None:
    time.sleep(30)


@pytest.fixture
def suspects(database_url: str, tmp_path: Path) -> Iterator[Suspects]:
    made = Suspects(database_url)
    yield made
    made.close()


class Suspects:
    """Jobs that were running when their worker died; the next worker takes them."""

    def __init__(self, url: str) -> None:
        self.app = Tenure(url, settings=Settings(auto_migrate=True))
        self._url = url
        self._program: subprocess.Popen[bytes] | None = None

    def run(self, *kinds: str) -> list[Job]:
        """Each kind once, to its end."""
        refs = [self.app.enqueue(kind) for kind in kinds]
        claim_all(self.app.store, kinds=list(kinds), lease_seconds=0.05)
        self._program = subprocess.Popen(
            [sys.executable, "-m", "tenure", "worker", "--app", APP, "--quiet"],
            cwd=ROOT,
            env={**os.environ, "TENURE_DATABASE_URL": self._url, "TENURE_POLL_SECONDS": "0.1"},
            start_new_session=True,
        )
        until(lambda: all(self.app.get(ref).state.final for ref in refs))
        return [self.app.get(ref) for ref in refs]

    @property
    def worker(self) -> int:
        assert self._program is not None
        return self._program.pid

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        assert self._program is not None
        self._program.send_signal(how)
        return self._program.wait(20)

    def close(self) -> None:
        if self._program is not None and self._program.poll() is None:
            self._program.kill()
            self._program.wait(20)
        self.app.close()


def test_a_suspect_ends_as_it_would_anywhere(suspects: Suspects) -> None:
    done = suspects.run("returns", "fails", "retries", "calls off", "settles")

    assert [job.state for job in done] == [
        State.SUCCEEDED, State.FAILED, State.SUCCEEDED, State.CANCELED, State.SUCCEEDED,
    ]  # fmt: skip
    assert {job.crashes for job in done} == {1}
    assert done[0].result["worker"] == suspects.worker
    assert done[0].result["pid"] != suspects.worker
    assert [line.message for line in suspects.app.store.jobs.logs(done[0].id)] == [
        f"in {done[0].result['pid']}"
    ]
    assert done[4].result == "mine"
    assert suspects.stop() == 0


def test_what_cannot_be_sent_back_is_an_error_of_the_run(suspects: Suspects) -> None:
    exited, unsent = suspects.run("exits", "unheard of")

    assert (exited.state, exited.reason) == (State.DEAD, "exhausted")
    assert (unsent.state, unsent.crashes) == (State.FAILED, 1)


def test_a_process_that_leaves_without_a_word_has_crashed(suspects: Suspects) -> None:
    [job] = suspects.run("leaves")

    assert (job.state, job.reason, job.crashes) == (State.DEAD, "worker_crashed", 6)
    assert job.attempt == job.max_attempts == 5


def test_a_process_that_was_asked_to_end_is_not_guilty(suspects: Suspects) -> None:
    [job] = suspects.run("stopped by all")

    assert (job.state, job.result, job.crashes) == (State.SUCCEEDED, "done", 1)


def test_a_suspect_past_its_timeout_is_killed(suspects: Suspects) -> None:
    [job] = suspects.run("endless")

    assert (job.state, job.reason) == (State.DEAD, "exhausted")
    assert (suspects.app.insight.history(job)[-1].failure or {})["code"] == "timeout"


def test_nothing_is_left_behind_when_a_worker_ends(suspects: Suspects) -> None:
    suspects.run("returns")
    session = suspects.worker
    suspects.stop(signal.SIGKILL)

    until(lambda: not processes_of(session))


def processes_of(session: int) -> list[int]:
    """Living processes of this session."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                state, _, _, its = (folder / "stat").read_text().rpartition(")")[2].split()[:4]
            except (FileNotFoundError, ProcessLookupError):
                continue
            if int(its) == session and state not in "ZX":
                found.append(int(folder.name))
    return found
