"""What a trigger costs and brings: NOTIFY and RabbitMQ, against none and against the bare thing."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from statistics import median
from threading import Thread

import aio_pika
import psycopg

from bench.app import make_app
from bench.children import child
from bench.databases import calm, fresh, postgres_server
from bench.drains import NOOP_SLOTS
from bench.figures.drain import on
from bench.figures.scale import Scale
from bench.meters import percentile
from bench.peers.runner import trickle
from bench.result import Check, Result, at_least, at_most
from bench.triples import Reading, measure
from tenure import Tenure
from tests.support.brokers import start_rabbitmq
from tests.support.servers import PrivateServer, server_folder

WRITERS = 32
JOBS = 16_000
RATE = 20.0
SECONDS = 10.0
HINTS = 20_000
BARE = 100
OFF = {"TENURE_WAKE_CHANNEL": ""}
NOTIFY = {"TENURE_WAKE_CHANNEL": "tenure"}
Environment = Mapping[str, str]
Line = AsyncGenerator[Callable[[], Coroutine[None, None, None]], None]


def wake(scale: Scale) -> Result:
    """32 writers with a trigger and without; idle to start; a flood of hints."""
    with postgres_server() as server, broker() as url:
        rabbit = {**OFF, "TENURE_RABBITMQ_URL": url}
        jobs, seconds = scale.rows(JOBS), scale.seconds(SECONDS)
        checks: list[Check] = []
        notes: list[str] = []
        for name, trigger, bare in (
            ("NOTIFY", NOTIFY, bare_notify),
            ("RabbitMQ", rabbit, lambda _: bare_publish(url)),
        ):
            kept = measure(
                on(server, lambda url, _: writers(url, jobs, OFF)),
                on(server, lambda url, _, env=trigger: writers(url, jobs, env)),
            )
            checks.append(at_least(f"{name}: throughput of 32 writers", kept.ratio, 0.8))
            with fresh(server) as database:
                floor = durable_commit(database) + bare(database)
                samples = idle_to_start(database, seconds, trigger)
            p95 = percentile(samples, 0.95)
            checks.append(at_most(f"{name}: p95 x (commit + bare)", p95 / floor, 5))
            checks.append(at_most(f"{name}: p95 ms on a quiet machine", p95, 50))
            with fresh(server) as database:
                claims = flood(database, trigger, url if name == "RabbitMQ" else None)
            checks.append(at_most(f"{name}: claims/s under 20,000 hints", claims, 25))
            p50 = percentile(samples, 0.5)
            notes.append(f"{name}: p50 {p50:.2f}, p95 {p95:.2f} ms; commit + bare {floor:.2f} ms")
            notes += [f"{name}: {note}" for note in kept.notes]
    return Result(
        bench="wake", value=kept.value, unit="jobs/s", reference=kept.reference, ratio=kept.ratio,
        checks=checks, notes=notes,
    )  # fmt: skip


@contextmanager
def broker() -> Iterator[str]:
    """A RabbitMQ of its own, gone afterwards."""
    with server_folder() as folder:
        server: PrivateServer = start_rabbitmq(folder)
        try:
            yield server.admin_url
        finally:
            server.stop()


def writers(url: str, jobs: int, environment: Environment) -> Reading:
    """Jobs a second, each durable when its call returns; a worker listens and idles beside."""
    app = app_with(url, environment)
    app.enqueue("noop")
    calm(url)
    each = jobs // WRITERS
    threads = [Thread(target=_write, args=(app, each)) for _ in range(WRITERS)]
    begun = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.perf_counter() - begun
    app.close()
    return Reading(value=each * WRITERS / seconds)


def _write(app: Tenure, count: int) -> None:
    for _ in range(count):
        app.enqueue("noop")


def idle_to_start(url: str, seconds: float, environment: Environment) -> list[float]:
    """Milliseconds from just before the enqueue call to the body, in another process."""
    app = app_with(url, environment)
    app.enqueue("noop")
    with child("bench.worker", url, NOOP_SLOTS, environment=environment) as worker:
        worker.ask("serve")
        time.sleep(1.0)
        sent = trickle(lambda at: _stamp(app, at), RATE, seconds)
        time.sleep(1.5)
        samples = [each * 1e3 for each in worker.ask("stop")]
    app.close()
    if len(samples) != sent["sent"]:
        raise SystemExit(f"{len(samples)} of {sent['sent']:.0f} jobs ran")
    return samples


def _stamp(app: Tenure, at: float) -> None:
    app.enqueue("stamp", {"at": at})


def flood(url: str, environment: Environment, broker_url: str | None) -> float:
    """Claims a second of an idle worker while it gets 20,000 hints without a job."""
    make_app(url).store.now()
    with child("bench.worker", url, NOOP_SLOTS, environment=environment) as worker:
        worker.ask("looks")
        time.sleep(1.0)
        before, begun = worker.ask("count"), time.monotonic()
        if broker_url is None:
            _notify_hints(url)
        else:
            asyncio.run(_publish_hints(broker_url))
        time.sleep(max(0.0, 1.0 - (time.monotonic() - begun)))
        claims, during = worker.ask("count") - before, time.monotonic() - begun
        worker.ask("stop")
    return float(claims) / during


def _notify_hints(url: str) -> None:
    words = """SELECT pg_notify('tenure', '["default", "' || n || '"]')
        FROM generate_series(1, 1000) n"""
    with psycopg.connect(url, autocommit=True) as connection:
        for _ in range(HINTS // 1_000):
            connection.execute(words)


async def _publish_hints(url: str) -> None:
    async with await aio_pika.connect(url) as connection:
        channel = await connection.channel(publisher_confirms=False)
        exchange = await channel.get_exchange("bpc")
        for number in range(HINTS):
            message = aio_pika.Message(b'{"job_id": "%d"}' % number)
            await exchange.publish(message, "jobs.trigger", mandatory=False)


def in_rhythm(once: Callable[[], object]) -> float:
    """Median milliseconds of something that is done as often as jobs are enqueued: a machine that
    has idled meanwhile takes longer for everything.
    """
    times, begun = [], time.monotonic()
    for number in range(BARE):
        time.sleep(max(0.0, begun + number / RATE - time.monotonic()))
        started = time.perf_counter()
        once()
        times.append((time.perf_counter() - started) * 1e3)
    return median(times)


def durable_commit(url: str) -> float:
    """Median milliseconds of one row, committed."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TABLE bare (id bigserial PRIMARY KEY, text text)")
        insert = "INSERT INTO bare (text) VALUES ('x')"
        return in_rhythm(lambda: connection.execute(insert, prepare=True))


def bare_notify(url: str) -> float:
    """Median milliseconds from a NOTIFY to the connection that listens."""
    with (
        psycopg.connect(url, autocommit=True) as ear,
        psycopg.connect(url, autocommit=True) as mouth,
    ):
        ear.execute("LISTEN bare")

        def once() -> None:
            mouth.execute("NOTIFY bare, 'x'")
            for _ in ear.notifies(timeout=5, stop_after=1):
                return

        return in_rhythm(once)


def bare_publish(url: str) -> float:
    """Median milliseconds from a confirmed publish to its consumer."""
    with asyncio.Runner() as runner:
        line = _bare_line(url)
        publish = runner.run(_first(line))
        took = in_rhythm(lambda: runner.run(publish()))
        runner.run(line.aclose())
    return took


async def _first(line: Line) -> Callable[[], Coroutine[None, None, None]]:
    return await anext(line)


async def _bare_line(url: str) -> Line:
    async with await aio_pika.connect(url) as connection:
        heard = asyncio.Event()
        channel = await connection.channel()
        exchange = await channel.declare_exchange("bare", "topic")
        queue = await channel.declare_queue(exclusive=True)
        await queue.bind(exchange, "bare")

        async def on_message(_: object) -> None:
            heard.set()

        async def publish() -> None:
            heard.clear()
            await exchange.publish(aio_pika.Message(b"x"), "bare")
            await heard.wait()

        await queue.consume(on_message, no_ack=True)
        yield publish


def app_with(url: str, environment: Environment) -> Tenure:
    """An app that reads these settings, as the worker's process does."""
    before = dict(os.environ)
    os.environ.update(environment)
    try:
        return make_app(url)
    finally:
        os.environ.clear()
        os.environ.update(before)
