"""`python -m examples.demo`: a thousand jobs and two workers, one of them killed on the way."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Annotated

import typer

from examples.demo.story import LEASE_SECONDS, DemoWorker, Story
from examples.demo.view import Screen, ending
from tenure import Tenure

VARIABLE = "TENURE_DATABASE_URL"
APP = "tenure.cli.up.sample_app:app"
PREFIX = "tenure-demo-"
KEEP = "keep"
LOOK_SECONDS = 0.2
LIMIT_SECONDS = 90.0


def demo(
    jobs: Annotated[
        int, typer.Option("--jobs", metavar="N", min=20, max=5_000, help="How many.")
    ] = 1_000,
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep the folder; else the next demo removes it.")
    ] = False,
) -> None:
    """See it work: jobs run, fail, are retried, and survive a worker that is killed."""
    sweep()
    folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-"))
    if keep:
        (folder / KEEP).touch()
    url = f"sqlite:///{folder / 'demo.db'}"
    os.environ[VARIABLE] = url
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _end)
    with closing(Tenure(url)) as engine, workers(folder) as two:
        story = Story(engine, two, jobs)
        complete = play(story)
    typer.echo(ending(story, url, APP))
    if not complete:
        raise typer.Exit(1)


def play(story: Story) -> bool:
    """Look again and again until all is final."""
    deadline = time.monotonic() + LIMIT_SECONDS
    with Screen(story) as screen:
        story.begin()
        while time.monotonic() < deadline:
            story.look()
            screen.draw()
            if story.complete:
                return True
            time.sleep(LOOK_SECONDS)
    return False


@contextmanager
def workers(folder: Path) -> Iterator[list[DemoWorker]]:
    """Two real worker processes; they end with the demo, however it ends."""
    two = [_start(number, folder) for number in (1, 2)]
    try:
        yield two
    finally:
        for one in two:
            one.process.terminate()
        for one in two:
            with suppress(subprocess.TimeoutExpired):
                one.process.wait(5)
            one.process.kill()


def sweep() -> None:
    """Remove folders of earlier demos, but not one that was kept or is in use."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        owner = folder.name.removeprefix(PREFIX).partition("-")[0]
        with suppress(OSError):
            mine = folder.stat().st_uid == os.getuid() and owner.isdigit()
            if mine and not _alive(int(owner)) and not (folder / KEEP).exists():
                shutil.rmtree(folder)


def _start(number: int, folder: Path) -> DemoWorker:
    """Start a worker in a session of its own: Ctrl-C goes to the demo, which ends its workers."""
    command = [sys.executable, "-m", "tenure", "worker", "--app", APP]
    command += ["--lease-seconds", str(LEASE_SECONDS), "--queue", "default=6", "--queue", "slow=4"]
    with (folder / f"worker-{number}.log").open("wb") as log:
        process = subprocess.Popen(  # noqa: S603
            command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True
        )
    return DemoWorker(number, process)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _end(number: int, _: object) -> None:
    raise SystemExit(128 + number)


if __name__ == "__main__":
    typer.run(demo)
