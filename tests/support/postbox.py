"""The postbox of the shop in a thread of the tests: it keeps mails, and can hold one back."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Self

from examples.shop.postbox import Postbox

PATIENCE_SECONDS = 30


class KeptMails:
    """What was delivered, by Message-ID. The first mail to `held` is never taken."""

    def __init__(self) -> None:
        self.mails: dict[str, EmailMessage] = {}
        self.copies: Counter[str] = Counter()
        self.held = "nobody@example.com"
        self.holding = threading.Event()
        self._opened = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()))

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._opened.wait(PATIENCE_SECONDS)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join(PATIENCE_SECONDS)

    async def _serve(self) -> None:
        self._loop, self._end = asyncio.get_running_loop(), asyncio.Event()
        async with await Postbox(self._deliver).open(0) as server:
            self.address = "127.0.0.1:{1}".format(*server.sockets[0].getsockname())
            self._opened.set()
            await self._end.wait()

    async def _deliver(self, mail: bytes) -> None:
        message = message_from_bytes(mail, policy=policy.default)
        if message["To"] == self.held and not self.holding.is_set():
            self.holding.set()
            await self._end.wait()
            raise ConnectionAbortedError
        self.copies[message["Message-ID"]] += 1
        self.mails[message["Message-ID"]] = message
