"""A Tenure worker in a process of its own: `python -m bench.worker URL SLOTS [LIMIT]`.

Answers `drain` with what it did, and `serve` with a worker that runs until the next line; after
`looks` it answers each line with the number of claims so far, until `stop`. After `unfair` it
serves tenant after tenant instead of all at once.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping, Sequence

from bench.app import latencies, make_app
from tenure import Limit, Tenure, Worker
from tenure.core.rules.shares import Lane, Take, Tally
from tenure.stores.contract import Claim, ClaimRequest

LANES_AT_ONCE = 64


def drain(app: Tenure, slots: int) -> dict[str, float]:
    """Run everything that is due; from the start of the worker to its last settled job."""
    used, begun = time.process_time(), time.monotonic()
    jobs = Worker(app, concurrency=slots).run_until_idle()
    return {
        "jobs": jobs,
        "begun": begun,
        "ended": time.monotonic(),
        "cpu": time.process_time() - used,
    }


def serve(app: Tenure, slots: int) -> list[float]:
    """Work in the background until the next line comes."""
    latencies.clear()
    with Worker(app, concurrency=slots):
        say("ready")
        sys.stdin.readline()
    return latencies


def looks(app: Tenure, slots: int) -> None:
    """Work in the background and say how often it has looked, until told to stop."""
    counted, claim = [0], app.store.jobs.claim

    def counting(request: ClaimRequest) -> Claim:
        counted[0] += 1
        return claim(request)

    app.store.jobs.claim = counting  # type: ignore[method-assign]
    with Worker(app, concurrency=slots):
        say(counted[0])
        while sys.stdin.readline().strip() != "stop":
            say(counted[0])
    say(counted[0])


def be_unfair() -> str:
    """Every slot for the first lane; the next ones get what it leaves over."""

    def divide(
        self: Tally, level: Sequence[Lane], slots: Mapping[str, int], *_: object
    ) -> list[Take]:
        return [Take(lane, slots[lane.queue]) for lane in sorted(level)[:LANES_AT_ONCE]]

    Tally.divide = divide  # type: ignore[method-assign]
    return "unfair"


def say(answer: object) -> None:
    print(json.dumps(answer), flush=True)


def main() -> None:
    url, slots = sys.argv[1], int(sys.argv[2])
    app = make_app(url, Limit(running=int(sys.argv[3])) if sys.argv[3:] else None)
    for line in sys.stdin:
        match line.strip():
            case "warm":
                app.features.load()  # their imports are a worker's start, not a job's cost
                say(app.store.now().isoformat())
            case "unfair":
                say(be_unfair())
            case "drain":
                say(drain(app, slots))
            case "serve":
                say(serve(app, slots))
            case "looks":
                looks(app, slots)
    app.close()


if __name__ == "__main__":
    main()
