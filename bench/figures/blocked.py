"""What a claim costs when 100,000 queued rows may not run: held, paused, of an unknown kind, over
their limit.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from bench.app import fill, make_app, noop
from bench.claims import median_claim
from bench.databases import calm, postgres_server
from bench.figures.scale import Scale
from bench.result import Result, at_most
from bench.triples import Reading, Triples, measure
from tenure import Limit, Tenure
from tenure.stores.contract import ClaimRequest

BLOCKED = 100_000
RUNNABLE = 2_000
SLOTS = {"default": 50, "paused": 50}
Block = Callable[[Tenure, int], None]


def blocked(scale: Scale) -> Result:
    """The median claim of 50 against one in a table with nothing else, PostgreSQL and SQLite."""
    seen: dict[str, Triples] = {}
    with ExitStack() as stack:
        server = stack.enter_context(postgres_server())
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tenure-bench-")))
        for name, block in BLOCKS.items():
            print(f"  {name} on PostgreSQL")
            urls = server.create_database(), server.create_database()
            seen[f"{name}, PostgreSQL"] = _compare(urls, block, scale.rows(BLOCKED))
            print(f"  {name} on SQLite")
            urls = f"sqlite:///{folder}/{name}-clean.db", f"sqlite:///{folder}/{name}.db"
            seen[f"{name}, SQLite"] = _compare(urls, block, scale.rows(BLOCKED))
    worst = max(seen.values(), key=lambda triples: triples.ratio)
    return Result(
        bench="blocked",
        value=worst.value,
        unit="ms",
        reference=worst.reference,
        ratio=worst.ratio,
        checks=[at_most(f"{name}, x clean", each.ratio, 2) for name, each in seen.items()],
        notes=["value and reference are those of the worst case"]
        + [f"{name}: {note}" for name, each in seen.items() for note in each.notes],
    )


def hold(app: Tenure, count: int) -> None:
    """Rows that something else must release first."""
    fill(app, "noop", count)
    with app.transaction() as tx:
        tx.execute("UPDATE tenure_jobs SET hold = 1")


def pause(app: Tenure, count: int) -> None:
    """A queue that an operator has paused, in front of one that has not."""
    fill(app, "noop", count, queue="paused")
    app.store.queues.pause("paused", "bench")


def unknown(app: Tenure, count: int) -> None:
    """Rows that wait for a release with their handler, at the head of the queue."""
    fill(app, "not.known.here", count)


def limit(app: Tenure, count: int) -> None:
    """Rows of a kind that is at its limit, at the head of the queue."""
    app.job("narrow", limit=Limit(running=1))(noop)
    fill(app, "narrow", count)
    request = ClaimRequest(
        owner="bench:holder",
        kinds=["narrow"],
        slots={"default": 500},
        lease_seconds=3_600,
        limits=app.limits.declared(),
    )
    while app.store.jobs.claim(request).look_in == 0.0:
        continue  # each claim comes upon some more for whom there is no room


BLOCKS: Mapping[str, Block] = {
    "held": hold,
    "paused": pause,
    "unknown kind": unknown,
    "over a limit": limit,
}


def _compare(urls: tuple[str, str], block: Block, count: int) -> Triples:
    clean, full = make_app(urls[0]), make_app(urls[1])
    block(full, count)
    calm(urls[1])
    try:
        return measure(partial(_claims, clean), partial(_claims, full))
    finally:
        clean.close()
        full.close()


def _claims(app: Tenure) -> Reading:
    """New jobs behind whatever is there, claimed 50 at a time."""
    fill(app, "noop", RUNNABLE)
    return median_claim(app, SLOTS, RUNNABLE)
