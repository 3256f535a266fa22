"""What the HTTP API costs beside routes written by hand, and how many streams one process bears."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial

from bench.app import make_app
from bench.browsers import Watcher, asking, load
from bench.children import Child, child
from bench.databases import calm, fresh, postgres_server
from bench.figures.scale import Scale
from bench.meters import cpu_seconds, percentile, rss_mebibytes
from bench.result import Check, Result, at_least, at_most
from bench.triples import Reading, Triples, measure
from tenure import Tenure, Worker

CONNECTIONS = 16
STREAMS = 200
BURST = 50
EVENTS = 500
FILLING, MORE = 5, 3  # what a process remembers for clients that come again is bounded, and full
ROWS = 500
BODY = {"kind": "result", "payload": {"text": "n" * 120}}
PATIENCE_SECONDS = 120.0
Requests = Callable[[str, int], bytes]
"""From a key and a number to the bytes of a request."""


@dataclass(frozen=True)
class Service:
    """A measured process."""

    process: Child
    port: int
    key: str


@dataclass(frozen=True)
class Streamed:
    """What 200 clients were told, and the memory of the process that told them."""

    events: int
    missing: int
    before: float
    after: float


def api(scale: Scale) -> Result:
    """POST /api/jobs and GET /api/jobs/{id} next to bare `def` routes; 200 event streams."""
    requests = scale.rows(4_000)
    with postgres_server() as server, fresh(server) as url, _services(url) as (bare, tenure):
        engine = make_app(url)
        ended, waiting = _jobs(engine)
        calm(url)
        compare = partial(_compare, bare, tenure, server.process.pid, requests)
        added = compare(lambda key, _: asking("POST", "/api/jobs", key, BODY))
        read = compare(lambda key, number: _get(key, ended[number % ROWS]))
        open_read = compare(lambda key, number: _get(key, waiting[number % ROWS]))
        streamed = asyncio.run(_stream(engine, tenure))
        engine.close()
    return _result(added, read, open_read, streamed)


@contextmanager
def _services(url: str) -> Iterator[list[Service]]:
    """Both at once: each is idle while the other is measured."""
    make_app(url).store.now()  # the schema, before two want to make it
    with ExitStack() as stack:
        made = []
        for sort in ("bare", "tenure"):
            process = stack.enter_context(child("bench.served", sort, url))
            made.append(Service(process, **process.answer()))
        yield made


def _jobs(engine: Tenure) -> tuple[list[str], list[str]]:
    """Ids of jobs that have run, and of jobs that wait."""
    ended = engine.enqueue_many([engine.new("result", BODY["payload"]) for _ in range(ROWS)])
    Worker(engine).run_until_idle()
    waiting = engine.enqueue_many(
        [engine.new("later", BODY["payload"], delay=3_600) for _ in range(ROWS)]
    )
    return [ref.id for ref in ended], [ref.id for ref in waiting]


def _get(key: str, job_id: str) -> bytes:
    return asking("GET", f"/api/jobs/{job_id}", key)


def _compare(bare: Service, tenure: Service, server: int, requests: int, ask: Requests) -> Triples:
    def reading(service: Service) -> Reading:
        asyncio.run(load(service.port, partial(ask, service.key), requests // 10, CONNECTIONS))
        used, charged = cpu_seconds(service.process.pid), cpu_seconds(server)
        seconds, each = asyncio.run(
            load(service.port, partial(ask, service.key), requests, CONNECTIONS)
        )
        return Reading(
            value=requests / seconds,
            worker_us=(cpu_seconds(service.process.pid) - used) / requests * 1e6,
            server_us=(cpu_seconds(server) - charged) / requests * 1e6,
            samples=tuple(each),
        )

    return measure(lambda: reading(bare), lambda: reading(tenure))


async def _stream(engine: Tenure, service: Service) -> Streamed:
    """Rounds of new jobs; after some, no round may leave memory behind."""
    watchers = [Watcher() for _ in range(STREAMS)]
    tasks = [asyncio.ensure_future(one.watch(service.port, service.key)) for one in watchers]
    await asyncio.wait_for(
        asyncio.gather(*(one.ready.wait() for one in watchers)), PATIENCE_SECONDS
    )
    memory, missing = [], 0
    for _ in range(FILLING + MORE):
        ids = await asyncio.to_thread(_add, engine)
        missing += await _told(watchers, ids)
        memory.append(rss_mebibytes(service.process.pid))
    for task in tasks:
        task.cancel()
    with suppress(asyncio.CancelledError):
        await asyncio.gather(*tasks)
    return Streamed(EVENTS * len(memory), missing, memory[FILLING - 1], memory[-1])


def _add(engine: Tenure) -> set[bytes]:
    ids: set[bytes] = set()
    for _ in range(0, EVENTS, BURST):
        jobs = [engine.new("later", delay=3_600) for _ in range(BURST)]
        ids |= {ref.id.encode() for ref in engine.enqueue_many(jobs)}
        time.sleep(0.1)
    return ids


async def _told(watchers: Sequence[Watcher], ids: set[bytes]) -> int:
    """How many were still untold, over all clients, when patience was over."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while (missing := sum(len(ids - one.told) for one in watchers)) and time.monotonic() < deadline:
        await asyncio.sleep(0.1)
    for one in watchers:
        one.told.clear()
    return missing


def _result(added: Triples, read: Triples, open_read: Triples, streamed: Streamed) -> Result:
    worst = min((added, read, open_read), key=lambda one: one.ratio)
    checks = [
        at_least("enqueue, of a bare route's requests/s", added.ratio, 0.7),
        at_least("read of an ended job, of a bare route's", read.ratio, 0.7),
        at_least("read of a waiting job (with `why`)", open_read.ratio, 0.7),
        *_streams(streamed),
    ]
    notes = [
        _told_of("enqueue", added),
        _told_of("read, ended", read),
        _told_of("read, waiting (with `why`)", open_read),
        f"{STREAMS} streams, {streamed.events} events each: {streamed.before:.1f} MiB after "
        f"{FILLING * EVENTS}, {streamed.after:.1f} MiB at the end",
        "value and reference are those of the worse ratio",
    ]
    return Result(
        bench="api",
        value=worst.value,
        unit="requests/s",
        reference=worst.reference,
        ratio=worst.ratio,
        cpu_us=worst.worker_us,
        server_us=worst.server_us,
        checks=checks,
        notes=[*notes, *added.notes, *read.notes],
    )


def _streams(streamed: Streamed) -> list[Check]:
    return [
        at_most("events that some stream missed", streamed.missing, 0),
        at_most(f"MiB more after {MORE * EVENTS} more events", streamed.after - streamed.before, 5),
    ]


def _told_of(name: str, seen: Triples) -> str:
    ours = [sample for one in seen.kept for sample in one.subject.samples]
    theirs = [sample for one in seen.kept for sample in (*one.before.samples, *one.after.samples)]
    cpu = [reading.worker_us or 0 for one in seen.kept for reading in (one.before, one.after)]
    return (
        f"{name}: {seen.value:,.0f} requests/s, p99 {percentile(ours, 0.99) * 1e3:.1f} ms, "
        f"{seen.worker_us:.0f} us of CPU; bare {seen.reference:,.0f}, "
        f"p99 {percentile(theirs, 0.99) * 1e3:.1f} ms, {sum(cpu) / len(cpu):.0f} us; "
        f"ratio {seen.ratio:.2f}"
    )
