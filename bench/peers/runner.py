"""The command line that every peer's module shares: setup, fill, work, trickle.

Runs in the peers' environment, so it needs nothing but the standard library.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

SLEEP_SECONDS = 0.005


@dataclass(frozen=True)
class Runner:
    """How one peer is set up, filled and worked; `put` answers a function that enqueues one."""

    setup: Callable[[], None]
    fill: Callable[[str, int], None]
    work: Callable[[str, int], None]
    put: Callable[[], Callable[[float], None]] | None = None


def url() -> str:
    """Where the peer keeps its jobs: a database URL, a broker URL or a file."""
    return os.environ["PEER_URL"]


def main(runner: Runner) -> None:
    """Do what the arguments say."""
    match sys.argv[1:]:
        case ["setup"]:
            runner.setup()
        case ["fill", task, count]:
            runner.fill(task, int(count))
        case ["work", task, slots]:
            runner.work(task, int(slots))
        case ["trickle", rate, seconds] if runner.put:
            print(json.dumps(trickle(runner.put(), float(rate), float(seconds))))
        case _:
            raise SystemExit(f"unknown: {sys.argv[1:]}")


def trickle(put: Callable[[float], None], rate: float, seconds: float) -> dict[str, float]:
    """Enqueue at a steady rate; answers the median seconds of the call itself."""
    calls, begun = [], time.monotonic()
    for number in range(int(rate * seconds)):
        time.sleep(max(0.0, begun + number / rate - time.monotonic()))
        at = time.monotonic()
        put(at)
        calls.append(time.monotonic() - at)
    return {"sent": len(calls), "call": median(calls)}
