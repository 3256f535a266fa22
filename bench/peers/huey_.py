"""Huey on SQLite, durable as SQLite is by default: one thread for no-ops, 100 for waiting."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from huey import SqliteHuey

from bench.peers.runner import SLEEP_SECONDS, Runner, main, url
from bench.peers.tally import hit

huey = SqliteHuey("bench", filename=url(), results=False, utc=True, fsync=True)


@huey.task()
def noop() -> None:
    hit()


@huey.task()
def sleep5() -> None:
    hit()
    time.sleep(SLEEP_SECONDS)


TASKS = {"noop": noop, "sleep5": sleep5}


def setup() -> None:
    """The first use makes the schema."""
    len(huey)


def fill(task: str, count: int) -> None:
    for _ in range(count):
        TASKS[task]()


def work(task: str, slots: int) -> None:
    consumer = str(Path(sys.executable).with_name("huey_consumer"))
    options = ["-k", "thread", "-n", "-d", "0.005", "-m", "0.005", "-b", "1.0", "-q"]
    arguments = [sys.executable, consumer, "bench.peers.huey_.huey", "-w", str(slots), *options]
    os.execve(sys.executable, arguments, {**os.environ, "PYTHONPATH": str(Path.cwd())})  # noqa: S606


if __name__ == "__main__":
    # The consumer imports this module by its name: the tasks must be registered under it.
    from bench.peers import huey_

    main(Runner(huey_.setup, huey_.fill, huey_.work))
