"""Wake-ups by RabbitMQ, beside any database. A message says "look now" and nothing else.

The broker is optional: while it is down, workers find their jobs by polling.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from tenure.core.errors import OptionError, StoreError, UrlError
from tenure.wakeups.due_jobs import EVERY_QUEUE, BrokerOptions, Complaints, Due, Heard, heed_cancel
from tenure.wakeups.quiet_logging import hushed
from tenure.wakeups.sender_thread import SPACING_SECONDS, SenderThread

if TYPE_CHECKING:
    from aio_pika.abc import AbstractChannel, AbstractExchange, AbstractIncomingMessage

    Line = tuple[AbstractChannel, AbstractExchange]

URL_SETTING = "TENURE_RABBITMQ_URL"
PATIENCE_SECONDS = 10.0
HANG_UP_SECONDS = 1.0
LOOK = "look"
LONGEST_BODY = 1_000


class RabbitSender(SenderThread):
    """See `tenure.wakeups.due_jobs.Sender`. All enqueues of a process within 5 ms, in a crowd
    40 ms, are one message, which names the last of their jobs.
    """

    step = "rabbitmq"
    _job_id: str | None

    def __init__(self, options: BrokerOptions, complaints: Complaints) -> None:
        self._options = options
        super().__init__(complaints)

    def send(self, due: Due) -> None:
        """Queue a message. It names no queues; the claim finds out."""
        self._job_id = due.job_id
        self.pass_on([LOOK])

    def is_own(self, name: str | None) -> bool:
        """Whether a message comes from here: its workers have been told directly."""
        return name == self._name

    def begin_anew(self) -> None:
        """Start without the parent's loop and connection."""
        super().begin_anew()
        self._name = secrets.token_hex(8)
        self._job_id = None
        self._runner: asyncio.Runner | None = None
        self._connection: Any = None
        self._exchange: AbstractExchange | None = None

    def say(self, names: list[str]) -> None:
        """Publish, and wait for the broker to confirm."""
        if self._runner is None:
            self._runner = asyncio.Runner()
        with hushed():
            self._runner.run(self._publish(json.dumps({"job_id": self._job_id}).encode()))

    async def _publish(self, body: bytes) -> None:
        from aio_pika import Message

        async with asyncio.timeout(PATIENCE_SECONDS):
            if self._exchange is None:
                # The loop stands still between messages and could answer no heartbeat.
                self._connection = await _connect(self._options.url, heartbeat=0)
                _, self._exchange = await _exchange(self._connection, self._options)
            message = Message(body, content_type="application/json", app_id=self._name)
            await self._exchange.publish(message, self._options.routing_key, mandatory=False)

    def hang_up(self) -> None:
        """Close the connection; the next message opens another one."""
        connection, self._connection, self._exchange = self._connection, None, None
        runner, self._runner = self._runner, None
        if runner is None:
            return
        with suppress(Exception), hushed():
            if connection is not None:
                runner.run(_close(connection))
        with suppress(Exception), hushed():
            runner.close()


class RabbitListener:
    """See `tenure.wakeups.due_jobs.Listener`. Every worker has a queue of its own that keeps one
    message: whoever looks now need not hear of it twice, and a flood stays with the broker.
    """

    def __init__(self, options: BrokerOptions, is_own: Callable[[str | None], bool]) -> None:
        self._options = options
        self._is_own = is_own
        self.healthy = True

    async def check(self) -> None:
        """OptionError where the broker is there and refuses us: waiting would not help."""
        from aio_pika.exceptions import (
            AMQPError,
            ChannelClosed,
            ConnectionClosed,
            InvalidFrameError,
            ProbableAuthenticationError,
        )

        try:
            with hushed():
                async with asyncio.timeout(PATIENCE_SECONDS), _channel(self._options):
                    return
        except (ProbableAuthenticationError, ConnectionClosed, InvalidFrameError) as error:
            user = urlsplit(self._options.url).username or "guest"
            raise OptionError(
                f"{URL_SETTING}: the broker refuses user {user!r}: {error}; "
                "check the user, the password and the virtual host in it"
            ) from error
        except ChannelClosed as error:
            raise OptionError(
                f"TENURE_RABBITMQ_EXCHANGE: the broker refuses {self._options.exchange!r}: {error}"
            ) from error
        except (AMQPError, OSError, TimeoutError):
            return  # it may come

    async def listen(self, heard: Heard, begun: Callable[[], None]) -> None:
        """Until cancelled; raises when the connection breaks."""
        self.healthy = False
        with hushed():
            await self._listen(heard, begun)
        self.healthy = False
        raise ConnectionError("the connection to the broker has ended")

    async def _listen(self, heard: Heard, begun: Callable[[], None]) -> None:
        async def on_message(message: AbstractIncomingMessage) -> None:
            if not self._is_own(message.app_id) and is_trigger(message.body):
                heard([EVERY_QUEUE])
            await asyncio.sleep(SPACING_SECONDS)  # the next comes after this one is acknowledged
            await message.ack()

        async with _channel(self._options) as (channel, exchange):
            await channel.set_qos(prefetch_count=1)
            queue = await channel.declare_queue(exclusive=True, arguments={"x-max-length": 1})
            await queue.bind(exchange, self._options.routing_key)
            await queue.consume(on_message)
            heed_cancel()
            self.healthy = True
            begun()
            await asyncio.wait([asyncio.ensure_future(channel.closed())])


def is_trigger(body: bytes) -> bool:
    """Whether it is one of ours by its look. Which job it names does not matter."""
    if len(body) > LONGEST_BODY:
        return False
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and isinstance(found.get("job_id", 0), str | None)


def check_url(url: str) -> None:
    """UrlError where it cannot be one; nothing is opened."""
    try:
        parts = urlsplit(url)
        fine = parts.scheme in ("amqp", "amqps") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # its text may quote a part of the password
        fine = False
    if not fine:
        raise UrlError(f"{URL_SETTING} must look like amqp://user:password@host:5672/vhost")
    try:
        import aio_pika  # noqa: F401
    except ImportError as error:
        raise StoreError(
            "the client for RabbitMQ is not installed: pip install 'tenure[rabbitmq]'"
        ) from error


@asynccontextmanager
async def _channel(options: BrokerOptions) -> AsyncIterator[Line]:
    connection = await _connect(options.url)
    try:
        yield await _exchange(connection, options)
    finally:
        with suppress(Exception):
            await _close(connection)


async def _connect(url: str, **query: int) -> Any:
    from aio_pika import Connection
    from yarl import URL

    address = URL(url).update_query({name: str(value) for name, value in query.items()})
    connection = Connection(address)
    try:
        await connection.connect(timeout=PATIENCE_SECONDS)
    except BaseException:
        await connection.close()  # else it would try to close itself when nobody awaits it
        raise
    return connection


async def _exchange(connection: Any, options: BrokerOptions) -> Line:
    """Made where it is missing; one that is there is taken as it is."""
    from aio_pika import ExchangeType
    from aio_pika.exceptions import ChannelPreconditionFailed

    channel: AbstractChannel = await connection.channel()
    try:
        made = await channel.declare_exchange(options.exchange, ExchangeType.TOPIC, durable=True)
    except ChannelPreconditionFailed:
        channel = await connection.channel()
        made = await channel.get_exchange(options.exchange)
    return channel, made


async def _close(connection: Any) -> None:
    async with asyncio.timeout(HANG_UP_SECONDS):
        await connection.close()
