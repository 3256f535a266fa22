"""Dramatiq on Redis: 8 threads for no-ops, 100 for waiting, prefetch 1,000."""

from __future__ import annotations

import os
import sys
import time

import dramatiq
from dramatiq.brokers.redis import RedisBroker

from bench.peers.runner import SLEEP_SECONDS, Runner, main, url
from bench.peers.tally import hit

broker = RedisBroker(url=url())
dramatiq.set_broker(broker)


@dramatiq.actor(max_retries=0)
def noop() -> None:
    hit()


@dramatiq.actor(max_retries=0)
def sleep5() -> None:
    hit()
    time.sleep(SLEEP_SECONDS)


TASKS = {"noop": noop, "sleep5": sleep5}


def setup() -> None:
    """What another round left behind is thrown away."""
    broker.client.flushall()


def fill(task: str, count: int) -> None:
    for _ in range(count):
        TASKS[task].send()


def work(task: str, slots: int) -> None:
    command = ["-m", "dramatiq", "bench.peers.dramatiq_", "-p", "1", "-t", str(slots)]
    environment = {**os.environ, "dramatiq_queue_prefetch": "1000"}
    os.execve(sys.executable, [sys.executable, *command], environment)  # noqa: S606


if __name__ == "__main__":
    # The worker imports this module by its name: one broker, not two.
    from bench.peers import dramatiq_

    main(Runner(dramatiq_.setup, dramatiq_.fill, dramatiq_.work))
