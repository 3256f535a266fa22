"""What a claim costs while an old snapshot keeps 100,000 dead tuples from being removed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from statistics import mean, median

import psycopg

from bench.app import fill, make_app
from bench.children import Child, child
from bench.databases import POSTGRES, calm, fresh, postgres_server
from bench.drains import Drain, drain
from bench.figures.scale import Scale
from bench.result import Result, at_most
from bench.triples import Reading, measure
from tests.support.servers import PrivateServer

DEAD = 100_000
WORKERS = 4
SLOTS = 50
CLAIMS_PER_SECOND = 20.0
SECONDS = 10.0
EMPTY_CLAIMS = 30
EXPLAIN = {
    "shared_preload_libraries": "auto_explain",
    "auto_explain.log_analyze": "on",
    "auto_explain.log_buffers": "on",
    "auto_explain.log_timing": "off",
}
MARK = "the mark of the bench"


def bloat(scale: Scale) -> Result:
    """Four processes claim for 10 s, sweeps included, against the same in a clean table."""
    seconds, dead = scale.seconds(SECONDS), scale.rows(DEAD)
    buffers: list[int] = []
    with postgres_server({**POSTGRES, **EXPLAIN}) as server:

        def clean() -> Reading:
            with fresh(server) as url:
                return _claims(server, url, seconds, [])

        def bloated() -> Reading:
            with fresh(server) as url, _old_snapshot(url):
                drain(url, server.process.pid, Drain(jobs=dead))
                return _claims(server, url, seconds, buffers)

        seen = measure(clean, bloated)
    return Result(
        bench="bloat",
        value=seen.value,
        unit="ms",
        reference=seen.reference,
        ratio=seen.ratio,
        checks=[
            at_most("mean claim x clean", seen.ratio, 2),
            at_most("buffers of an empty claim", median(buffers), 30),
        ],
        notes=[
            f"empty claims, sweeps included: {mean(buffers):.0f} buffers on average, "
            f"{max(buffers)} at most, of {len(buffers)}",
            *seen.notes,
        ],
    )


@contextmanager
def _old_snapshot(url: str) -> Iterator[None]:
    """What a forgotten BEGIN, a report or a dump does."""
    with psycopg.connect(url) as connection:
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        connection.execute("SELECT count(*) FROM pg_class")
        yield


def _claims(server: PrivateServer, url: str, seconds: float, buffers: list[int]) -> Reading:
    """Mean milliseconds of a claim by four processes; then the buffers of empty ones."""
    app = make_app(url)
    fill(app, "noop", int(WORKERS * SLOTS * CLAIMS_PER_SECOND * seconds))
    app.close()
    calm(url)
    with ExitStack() as stack:
        workers = [stack.enter_context(child("bench.claimer", url, SLOTS)) for _ in range(WORKERS)]
        for worker in workers:
            worker.ask("warm")
        for worker in workers:
            worker.tell("pace", CLAIMS_PER_SECOND, seconds)
        times = [took for worker in workers for took in worker.answer()]
        _empty(workers[0])
        buffers += _buffers(server, url, workers[0])
    return Reading(value=mean(times), samples=tuple(times))


def _empty(worker: Child) -> None:
    """Take what is left, if a claim of another came in between."""
    for _ in range(100):
        if worker.ask("claim") == 0:
            return
    raise SystemExit("the queue does not become empty")


def _buffers(server: PrivateServer, url: str, worker: Child) -> list[int]:
    """Let the server write down every plan, and add up what is between two marks in its log."""
    log = server.home / "log"
    begun = log.stat().st_size
    with psycopg.connect(url, autocommit=True) as connection:
        _explain(connection, "0")
        for _ in range(EMPTY_CLAIMS):
            connection.execute(f"SELECT '{MARK}'")
            worker.ask("claim")
        connection.execute(f"SELECT '{MARK}'")
        _explain(connection, "-1")
    with log.open("rb") as file:
        file.seek(begun)
        text = file.read().decode(errors="replace")
    return [_sum(part) for part in text.split(f"Query Text: SELECT '{MARK}'")[1:-1]]


def _explain(connection: psycopg.Connection, milliseconds: str) -> None:
    """Of every statement, in every session: a reload reaches those that are open."""
    connection.execute(f"ALTER SYSTEM SET auto_explain.log_min_duration = {milliseconds}")
    connection.execute("SELECT pg_reload_conf(), pg_sleep(0.2)")


def _sum(text: str) -> int:
    """The first line of buffers of each plan is that of its top node: the whole statement."""
    total = 0
    for plan in text.split("Query Text:")[1:]:
        if found := re.search(r"Buffers: shared([^\n]*)", plan):
            total += sum(int(n) for n in re.findall(r"(?:hit|read)=(\d+)", found[1]))
    return total
