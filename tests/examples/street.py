"""The shop as its README starts it: each part a process of its own, on loopback."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import httpx

from tests.support.postbox import KeptMails

SHOP = Path(__file__).parents[2] / "examples" / "shop"
SETTINGS = {"TENURE_LEASE_SECONDS": "2", "TENURE_POLL_SECONDS": "0.1"}
Program = subprocess.Popen[bytes]


@contextmanager
def open_street(database_url: str, folder: Path) -> Iterator[Street]:
    """None of its processes outlives the block."""
    with ExitStack() as stack:
        yield Street(database_url, folder / "log", stack)


class Street:
    """Shop, provider and postbox; workers come and go."""

    def __init__(self, database_url: str, log: Path, stack: ExitStack) -> None:
        self._log = log
        self._stack = stack
        self._environment = {**os.environ, **SETTINGS, "TENURE_DATABASE_URL": database_url}
        self.postbox = stack.enter_context(KeptMails())
        self.provider = self._serve("provider:web")
        self._environment |= {
            "SHOP_MAIL_SERVER": self.postbox.address,
            "SHOP_PROVIDER": str(self.provider.base_url),
        }
        assert self.tenure("migrate").wait(60) == 0, log.read_text()
        self.web = self._serve("shop:web")

    def worker(self) -> Program:
        return self.tenure("worker", "--app", "shop:jobs")

    def tenure(self, *command: str) -> Program:
        """One command of the command line."""
        return self._start("tenure", *command)

    def order(self, card: str = "tok_visa", **fields: Any) -> str:
        """Its number."""
        body = {"item": "mug", "quantity": 2, "email": "ada@example.com", "card": card, **fields}
        answer = self.web.post("/orders", json=body)
        assert answer.status_code == 201, answer.text
        return str(answer.json()["order"])

    def charges(self) -> list[tuple[str, str]]:
        """The provider's ledger: order and charge."""
        return [(one["reference"], one["id"]) for one in self.provider.get("/charges").json()]

    def _serve(self, app: str) -> httpx.Client:
        """The socket listens before the server does: a client that comes early waits in line."""
        with closing(socket.create_server(("127.0.0.1", 0))) as listening:
            number = listening.fileno()
            self._start("uvicorn", app, "--fd", str(number), pass_fds=[number])
            address = f"http://127.0.0.1:{listening.getsockname()[1]}"
        return self._stack.enter_context(httpx.Client(base_url=address, timeout=60))

    def _start(self, module: str, *arguments: str, pass_fds: list[int] | None = None) -> Program:
        with self._log.open("ab") as log:
            program = subprocess.Popen(
                [sys.executable, "-m", module, *arguments],
                cwd=SHOP,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=pass_fds or [],
            )
        self._stack.callback(end, program)
        return program


def end(program: Program) -> None:
    """At once."""
    program.kill()
    program.wait(20)
