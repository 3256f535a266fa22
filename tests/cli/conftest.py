"""The command line on a SQLite file of its own: in this process, or as a real program."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from tenure import Tenure
from tenure.cli.root import app as commands

SHOP = """
import threading
from tenure import Fail, Delays, Tenure

app = Tenure()
other = Tenure("sqlite:///other.db")
not_an_app = 1

@app.job("add")
def add(job, a: int, b: int = 2) -> int:
    job.log("adding")
    job.progress(0.5, "half")
    return a + b

@app.job("boom", retry=Delays(0))
def boom(job):
    raise ValueError("no luck")

@app.job("refuse")
async def refuse(job):
    raise Fail("never")

@app.job("hang", queue="long")
def hang(job):
    threading.Event().wait()
"""


@dataclass
class Shop:
    """A folder with an app (`shop:app`) and a database."""

    folder: Path
    url: str
    started: list[subprocess.Popen[str]] = field(default_factory=list)

    @property
    def engine(self) -> Tenure:
        """For looking at what the commands did."""
        return Tenure(self.url)

    def call(self, *args: str, input: str | None = None) -> Result:
        """A command in this process."""
        return CliRunner().invoke(commands, list(args), input=input)

    def read(self, *args: str) -> Any:
        """What a command says as JSON; it must succeed."""
        result = self.call(*args, "--json")
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    def items(self, *args: str) -> list[Any]:
        """What a command lists as JSON."""
        found: list[Any] = self.read(*args)["items"]
        return found

    def run(self, *args: str, input: str | None = None) -> subprocess.CompletedProcess[str]:
        """A command as a program."""
        command = [sys.executable, "-m", "tenure", *args]
        return subprocess.run(
            command, cwd=self.folder, input=input, capture_output=True, text=True, timeout=60
        )

    def start(self, *args: str) -> subprocess.Popen[str]:
        """A command as a program that goes on."""
        process = subprocess.Popen(
            [sys.executable, "-m", "tenure", *args],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.started.append(process)
        return process


@pytest.fixture
def empty_shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shop]:
    """No database yet."""
    (tmp_path / "shop.py").write_text(SHOP)
    url = f"sqlite:///{tmp_path / 'shop.db'}"
    monkeypatch.setenv("TENURE_DATABASE_URL", url)
    monkeypatch.chdir(tmp_path)
    shop = Shop(tmp_path, url)
    yield shop
    for process in shop.started:
        process.kill()
        process.communicate()


@pytest.fixture
def shop(empty_shop: Shop) -> Shop:
    """With its schema."""
    assert empty_shop.call("migrate").exit_code == 0
    return empty_shop
