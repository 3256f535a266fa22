"""Celery on RabbitMQ: one process for no-ops, 100 threads for waiting; results are ignored."""

from __future__ import annotations

import os
import sys
import time

from celery import Celery

from bench.peers.runner import SLEEP_SECONDS, Runner, main, url
from bench.peers.tally import hit

app = Celery("bench.peers.celery_", broker=url(), set_as_current=True)
app.conf.update(
    task_ignore_result=True,
    worker_prefetch_multiplier=200,
    task_default_queue="bench",
    broker_connection_retry_on_startup=True,
    worker_send_task_events=False,
)


@app.task(name="noop")
def noop() -> None:
    hit()


@app.task(name="sleep5")
def sleep5() -> None:
    hit()
    time.sleep(SLEEP_SECONDS)


TASKS = {"noop": noop, "sleep5": sleep5}


def setup() -> None:
    """What another round left behind is thrown away."""
    with app.connection() as connection:
        connection.ensure_connection(max_retries=20, interval_start=0.5)
        connection.channel().queue_delete("bench")


def fill(task: str, count: int) -> None:
    for _ in range(count):
        TASKS[task].delay()


def work(task: str, slots: int) -> None:
    pool = "prefork" if slots == 1 else "threads"
    quiet = ["--without-gossip", "--without-mingle", "--without-heartbeat", "-l", "CRITICAL"]
    command = ["-m", "celery", "-A", "bench.peers.celery_", "worker", "-P", pool, "-c", str(slots)]
    os.execv(sys.executable, [sys.executable, *command, *quiet])  # noqa: S606


if __name__ == "__main__":
    main(Runner(setup, fill, work))
