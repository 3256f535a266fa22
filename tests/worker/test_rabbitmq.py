"""Woken by RabbitMQ, beside any database: with an hour between polls."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from uuid import uuid4

import aio_pika
import pytest
from pydantic import SecretStr

from tenure import OptionError, RunningJob, Settings, State, Tenure, Worker
from tenure.core.errors import UrlError
from tenure.wakeups.due_jobs import WARN_EVERY_SECONDS
from tenure.wakeups.rabbitmq import is_trigger
from tenure.watch.storyteller import Storyteller
from tenure.worker.claiming.wake_timer import FREE, SPACING_SECONDS
from tests.support.servers import Server, free_port
from tests.support.until import until
from tests.worker.test_wake import done, listening, woken

Apps = Callable[..., Tenure]


@pytest.fixture
def apps(database_url: str, rabbitmq: Server) -> Iterator[Apps]:
    """Apps with a broker and without NOTIFY."""
    made, exchange = list[Tenure](), f"bpc-{uuid4().hex}"

    def make(**options: Any) -> Tenure:
        values: dict[str, Any] = {
            "poll_seconds": 3_600,
            "wake_channel": "",
            "rabbitmq_url": SecretStr(rabbitmq.admin_url),
            "rabbitmq_exchange": exchange,
        }
        app = Tenure(database_url, settings=Settings(**values | options))

        @app.job("note")
        async def note(job: RunningJob, text: str) -> str:
            return text

        made.append(app)
        return app

    yield make
    for app in made:
        app.close()


async def publish(app: Tenure, *bodies: bytes) -> None:
    """Whoever may connect may say anything."""
    settings = app.settings
    assert settings.rabbitmq_url
    async with await aio_pika.connect(settings.rabbitmq_url.get_secret_value()) as connection:
        channel = await connection.channel(publisher_confirms=False)
        exchange = await channel.get_exchange(settings.rabbitmq_exchange)
        for body in bodies:
            await exchange.publish(aio_pika.Message(body), settings.rabbitmq_routing_key)


async def overheard(app: Tenure, act: Callable[[], Any]) -> Any:
    """The first message that follows."""
    settings = app.settings
    assert settings.rabbitmq_url
    async with await aio_pika.connect(settings.rabbitmq_url.get_secret_value()) as connection:
        channel = await connection.channel()
        exchange = await channel.declare_exchange(settings.rabbitmq_exchange, "topic", durable=True)
        queue = await channel.declare_queue(exclusive=True)
        await queue.bind(exchange, "jobs.trigger")
        await asyncio.to_thread(act)
        async with queue.iterator() as messages:
            return json.loads((await anext(messages)).body)


def test_an_enqueue_wakes_a_worker_of_another_process(apps: Apps) -> None:
    there, here, heard = apps(), apps(), Counter[str]()
    there.signals.subscribe(lambda name, _: heard.update([name]), "worker.listening")

    with Worker(there):
        until(lambda: heard["worker.listening"])
        for number in range(3):
            assert done(here, here.enqueue("note", {"text": str(number)}))


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
def test_the_message_names_the_job_and_goes_out_after_the_commit(apps: Apps) -> None:
    app, made = apps(), list[str]()

    def enqueue() -> None:
        with pytest.raises(ZeroDivisionError), app.transaction() as tx:
            tx.enqueue("note", {"text": "rolled back"})
            raise ZeroDivisionError
        with app.transaction() as tx:
            made.append(tx.enqueue("note", {"text": "a"}).id)

    assert asyncio.run(overheard(app, enqueue)) == {"job_id": made[0]}


@pytest.mark.parametrize("dialect", ["postgres"], indirect=True)
def test_a_killed_broker_is_missed_by_nobody_and_heard_again(
    apps: Apps, rabbitmq: Server, caplog: pytest.LogCaptureFixture
) -> None:
    there, here = apps(poll_seconds=0.2), apps()
    heard, begun = Counter[str](), time.monotonic()
    for app in (there, here):
        app.signals.subscribe(lambda name, _: heard.update([name]), "wake.failed")
    there.signals.subscribe(lambda name, _: heard.update([name]), "worker.listening")

    with listening(there):
        rabbitmq.stop()
        assert done(here, here.enqueue("note", {"text": "polled"}))
        until(lambda: not here.store.wakeups.healthy and not there.store.wakeups.healthy)
        for number in range(20):
            here.enqueue("note", {"text": str(number)})
        rabbitmq.start()  # type: ignore[attr-defined]
        until(lambda: heard["worker.listening"] >= 2, seconds=60)
        until(lambda: here.store.wakeups.healthy and there.store.wakeups.healthy, seconds=60)
        assert done(here, here.enqueue("note", {"text": "heard again"}))
    minutes = 1 + (time.monotonic() - begun) // WARN_EVERY_SECONDS
    assert 2 <= heard["wake.failed"] <= 2 * minutes
    assert [one.getMessage() for one in caplog.records if one.levelno >= logging.WARNING] == []


def test_a_broker_that_is_not_there_is_told_once_a_minute(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """By us: its client does not speak beside us, but for the program's own connections."""
    nowhere = f"amqp://guest:guest@127.0.0.1:{free_port()}/"
    settings = Settings(rabbitmq_url=SecretStr(nowhere))
    app, told = Tenure(f"sqlite:///{tmp_path / 'jobs.db'}", settings=settings), list[str]()
    Storyteller(lambda sentence: told.append(sentence.text)).listen(app.signals)
    note = app.job("note")(lambda job: None)

    with closing(app), Worker(app):
        note.enqueue()
        until(lambda: not app.store.wakeups.healthy and not app.store.wakeups.senders[0].healthy)
    with pytest.raises(ConnectionError):
        asyncio.run(aio_pika.connect(nowhere))

    assert len([text for text in told if text.startswith("wake-ups interrupted")]) == 1
    assert [one.name for one in caplog.records] == ["aiormq.connection"]


@pytest.mark.parametrize("dialect", ["postgres"], indirect=True)
def test_junk_is_ignored_and_a_flood_is_a_trickle_of_claims(apps: Apps) -> None:
    there, here = apps(), apps()
    junk = [b"", b"x", b"[]", b'{"job_id": 7}', b"\xff", b"[" * 900, b'{"job_id": "' + b"a" * 2_000]

    with listening(there) as looks:
        before = woken(looks)
        asyncio.run(publish(there, *junk))
        assert done(here, here.enqueue("note", {"text": "a"}))
        assert woken(looks) <= before + 1

        before, begun = woken(looks), time.monotonic()
        asyncio.run(publish(there, *[b'{"job_id": "1"}'] * 5_000))
        elapsed = time.monotonic() - begun
        assert woken(looks) <= before + 2 * FREE + 2 + elapsed / SPACING_SECONDS
        assert here.wait(here.enqueue("note", {"text": "b"}), 20).state is State.SUCCEEDED


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
def test_a_broker_that_refuses_us_is_an_error_at_the_start(apps: Apps, rabbitmq: Server) -> None:
    wrong = rabbitmq.admin_url.replace("guest:guest", "guest:wrong")
    nowhere = f"{rabbitmq.admin_url}nowhere"

    for url in (wrong, nowhere):
        with pytest.raises(OptionError, match=r"TENURE_RABBITMQ_URL.*'guest'"):
            Worker(apps(rabbitmq_url=SecretStr(url))).__enter__()


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
def test_a_url_that_cannot_be_one_is_refused(apps: Apps) -> None:
    for url in ("", "http://a/", "amqp://", "amqp://u:p@h:port/", "localhost:5672"):
        with pytest.raises(UrlError, match="TENURE_RABBITMQ_URL must look like"):
            apps(rabbitmq_url=SecretStr(url))


def test_the_flags_of_the_broker_are_checked() -> None:
    for flags in ({"rabbitmq_enabled": True}, {"health_require_rabbitmq": True}):
        with pytest.raises(ValueError, match="need TENURE_RABBITMQ_URL"):
            Settings(**flags)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"BPC_QUEUE_ENABLED\) is false"):
        Settings(rabbitmq_enabled=False, health_require_rabbitmq=True)
    url = SecretStr("amqp://localhost/")
    assert Settings(rabbitmq_url=url, rabbitmq_enabled=False).broker is None
    assert Settings(rabbitmq_url=url).broker


def test_settings_keep_the_names_of_the_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BPC_QUEUE_ENABLED", "true")
    monkeypatch.setenv("TENURE_RABBITMQ_URL", "amqp://localhost/")
    monkeypatch.setenv("LISTEN_DSN", "postgresql://u@h/d")

    settings = Settings()

    assert settings.broker is not None
    assert (settings.broker.exchange, settings.broker.routing_key) == ("bpc", "jobs.trigger")
    assert settings.listen_url == "postgresql://u@h/d"


@pytest.mark.parametrize(
    ("switch", "health"),
    [
        ("TENURE_RABBITMQ_ENABLED", "TENURE_HEALTH_REQUIRE_RABBITMQ"),
        ("BPC_QUEUE_ENABLED", "BPC_HEALTH_REQUIRE_QUEUE"),
    ],
)
def test_the_flags_have_names_of_the_engine_and_of_the_seed(
    monkeypatch: pytest.MonkeyPatch, switch: str, health: str
) -> None:
    monkeypatch.setenv("TENURE_RABBITMQ_URL", "amqp://localhost/")
    monkeypatch.setenv(health, "true")
    assert Settings().health_require_rabbitmq

    monkeypatch.setenv(switch, "false")
    with pytest.raises(ValueError, match="TENURE_HEALTH_REQUIRE_RABBITMQ"):
        Settings()


def test_only_what_looks_like_a_trigger_is_one() -> None:
    assert is_trigger(b'{"job_id": "1"}')
    assert is_trigger(b'{"job_id": null, "more": 1}')
    assert not is_trigger(b'{"id": "1"}')
