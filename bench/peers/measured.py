"""Drain and trickle through a peer, with its own worker in its own environment."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.children import ROOT, end
from bench.databases import calm
from bench.meters import cpu_seconds, percentile
from bench.peers import tally
from bench.peers.environment import python
from bench.triples import Reading

START_SECONDS = 30.0
DRAIN_SECONDS = 12.0
CALL_SECONDS = 300.0
LAST_SETTLE_SECONDS = 0.3


@dataclass(frozen=True, kw_only=True)
class Peer:
    """The module of a peer and where its jobs are; `server` is the process to charge beside it."""

    module: str
    url: str
    server: int | None = None

    def call(self, *words: object) -> str:
        """Run one command of its module to the end."""
        done = subprocess.run(
            self._command(words),
            cwd=ROOT,
            env=self._environment(Path.cwd()),
            capture_output=True,
            text=True,
            timeout=CALL_SECONDS,
        )
        if done.returncode:
            raise RuntimeError(f"{self.module}: {done.stderr[-1500:]}")
        return done.stdout

    @contextmanager
    def working(self, task: str, slots: int, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
        """Its worker, ended afterwards with everything it started."""
        with (folder / "log").open("ab") as log:
            process = subprocess.Popen(
                self._command(("work", task, slots)),
                cwd=ROOT,
                env=self._environment(folder),
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        try:
            yield process
        finally:
            end(process)

    def _command(self, words: tuple[object, ...]) -> list[str]:
        return [str(python()), "-m", f"bench.peers.{self.module}", *map(str, words)]

    def _environment(self, folder: Path) -> dict[str, str]:
        return {**os.environ, "PEER_URL": self.url, "PEER_TALLY": str(folder)}


def drain(peer: Peer, task: str, slots: int, jobs: int) -> Reading:
    """Bodies per second from the first to the last: its settling is not even waited for."""
    peer.call("setup")
    peer.call("fill", task, jobs)
    calm(peer.url)
    with tempfile.TemporaryDirectory(prefix="tenure-peer-") as name:
        folder = Path(name)
        with peer.working(task, slots, folder) as process:
            started = _wait(folder, 1, START_SECONDS)
            if not started.count:
                raise RuntimeError(f"{peer.module} ran nothing: {_tail(folder)}")
            charged = _charged(peer, process)
            done = _wait(folder, jobs, DRAIN_SECONDS)
            time.sleep(LAST_SETTLE_SECONDS)
            used = [now - then for now, then in zip(_charged(peer, process), charged, strict=True)]
    rest = max(1, done.count - started.count)
    return Reading(
        value=done.count / (done.last - done.first),
        worker_us=used[0] / rest * 1e6,
        server_us=used[1] / rest * 1e6 if peer.server else None,
    )


def trickle(peer: Peer, slots: int, rate: float, seconds: float) -> list[float]:
    """Seconds from just before each enqueue call to the start of its body."""
    peer.call("setup")
    with tempfile.TemporaryDirectory(prefix="tenure-peer-") as name:
        folder = Path(name)
        with peer.working("noop", slots, folder):
            time.sleep(3.0)  # it says nothing when it is ready
            sent = json.loads(peer.call("trickle", rate, seconds))["sent"]
            _wait(folder, sent, 5.0)
            return tally.read_latencies(folder)


def pgqueuer(url: str, server: int, task: str, jobs: int) -> Reading:
    """PgQueuer: no bound for no-ops, 200 at a time for those that wait."""
    peer = Peer(module="pgqueuer_", url=url, server=server)
    return drain(peer, task, 0 if task == "noop" else 200, jobs)


def pgqueuer_latency(url: str, server: int, rate: float, seconds: float) -> Reading:
    """Median milliseconds of PgQueuer under a trickle."""
    samples = trickle(Peer(module="pgqueuer_", url=url, server=server), 0, rate, seconds)
    ms = tuple(sample * 1e3 for sample in samples)
    return Reading(value=percentile(ms, 0.5), samples=ms)


def huey(folder: Path, task: str, jobs: int) -> Reading:
    """Huey on a new file."""
    for old in folder.glob("huey.db*"):
        old.unlink()
    peer = Peer(module="huey_", url=str(folder / "huey.db"))
    return drain(peer, task, 1 if task == "noop" else 100, jobs)


def _wait(folder: Path, count: int, seconds: float) -> tally.Sum:
    """Until so many bodies have started, or the time is over."""
    deadline = time.monotonic() + seconds
    while (seen := tally.read(folder)).count < count and time.monotonic() < deadline:
        time.sleep(0.02)
    return seen


def _charged(peer: Peer, process: subprocess.Popen[bytes]) -> tuple[float, float]:
    return cpu_seconds(process.pid), cpu_seconds(peer.server) if peer.server else 0.0


def _tail(folder: Path) -> str:
    return (folder / "log").read_text(errors="replace")[-1500:]
