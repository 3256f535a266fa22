"""A real `tenure up`, as a person starts it, and a client of its API."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx

PATIENCE_SECONDS = 30
LINK = re.compile(r"(http://[\d.]+:\d+)/login\?token=\w+")


@dataclass
class Up:
    """A running service."""

    process: subprocess.Popen[str]
    link: str
    url: str
    database: str
    said: list[str] = field(default_factory=list)

    @contextmanager
    def client(self) -> Iterator[httpx.Client]:
        """Somebody who followed the link: with a session, and the token that a page sends along."""
        with httpx.Client(base_url=self.url, timeout=20) as client:
            entered = client.get(self.link)
            assert entered.status_code == 303, entered.text
            client.headers["x-csrf-token"] = client.get("/session").json()["csrfToken"]
            yield client

    def stop(self, *signals: signal.Signals) -> int:
        """Signal it, and wait for its end."""
        for number in signals:
            self.process.send_signal(number)
        rest, _ = self.process.communicate(timeout=PATIENCE_SECONDS)
        self.said += rest.splitlines()
        return self.process.returncode


@contextmanager
def up(folder: Path, *options: str, **environment: str) -> Iterator[Up]:
    """`tenure up --port 0` in a folder; killed afterwards if it still runs."""
    command = [sys.executable, "-m", "tenure", "up", "--port", "0", "--no-open", *options]
    process = subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        database = environment.get("TENURE_DATABASE_URL", f"sqlite:///{folder / 'tenure.db'}")
        yield _met(process, database)
    finally:
        process.kill()
        process.communicate()


def _met(process: subprocess.Popen[str], database: str) -> Up:
    """It prints its link when it answers, and ends its output where it cannot start."""
    assert process.stdout is not None
    said = []
    for line in process.stdout:
        said.append(line)
        if found := LINK.search(line):
            return Up(process, found[0], found[1], database, said)
    raise AssertionError("".join(said))
