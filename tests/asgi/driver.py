"""Drives an ASGI app as a server does, without one."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any

from tenure.asgi.messages import Application, Message


@dataclass
class Answer:
    """What came back."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Client:
    """One request; `leave` is what a client does that gives up."""

    app: Application
    method: str = "POST"
    path: str = "/"
    query: str = ""
    headers: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._messages: asyncio.Queue[Message] = asyncio.Queue()
        self._messages.put_nowait({"type": "http.request", "body": b""})
        self.answer = Answer()

    def leave(self) -> None:
        self._messages.put_nowait({"type": "http.disconnect"})

    async def send(self) -> Answer:
        scope = {
            "type": "http",
            "method": self.method,
            "path": self.path,
            "query_string": self.query.encode(),
            "headers": [(key.encode(), value.encode()) for key, value in self.headers.items()],
        }
        await self.app(scope, self._messages.get, self._hear)
        return self.answer

    async def _hear(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.answer.status = message["status"]
            found = message["headers"]
            self.answer.headers = {key.decode(): value.decode() for key, value in found}
        else:
            self.answer.body += message["body"]


def request(app: Application, **parts: Any) -> Answer:
    """One request on a loop of its own."""
    return asyncio.run(Client(app, **parts).send())
