"""The servers of the other tests are real: they start, forget nothing in a crash, and go away."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy.exc import IntegrityError, OperationalError

from tests.support.servers import (
    PrivateServer,
    Server,
    ServerMissing,
    execute,
    server_folder,
    start_mariadb,
    start_postgres,
)

STARTERS = [start_postgres, start_mariadb]


@pytest.fixture
def folder() -> Iterator[Path]:
    with server_folder() as path:
        yield path


@pytest.mark.parametrize("start", STARTERS)
def test_a_private_server_keeps_its_data_when_it_crashes(
    start: Callable[[Path], PrivateServer], folder: Path
) -> None:
    server = start_or_skip(start, folder)
    try:
        one, other = server.create_database(), server.create_database()
        execute(one, "CREATE TABLE kept (id INTEGER PRIMARY KEY)")
        execute(one, "INSERT INTO kept VALUES (1)")
        for immediate in (True, False):
            server.restart(immediate)
            with pytest.raises(IntegrityError):
                execute(one, "INSERT INTO kept VALUES (1)")
        server.drop_database(one)
        execute(other, "CREATE TABLE kept (id INTEGER)")
        with pytest.raises(OperationalError):
            execute(one, "SELECT 1")
    finally:
        server.stop()

    assert server.process.returncode is not None


@pytest.mark.crash
@pytest.mark.parametrize("start", STARTERS)
def test_a_server_does_not_outlive_a_killed_test_process(
    start: Callable[[Path], PrivateServer], folder: Path
) -> None:
    start_or_skip(start, folder).stop()
    script = (
        "import pathlib, signal, sys, tests.support.servers as servers\n"
        f"server = servers.{start.__name__}(pathlib.Path(sys.argv[1]))\n"
        "print(server.process.pid, flush=True)\n"
        "signal.pause()\n"
    )
    (folder / "again").mkdir()
    command = [sys.executable, "-c", script, str(folder / "again")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        server = int(owner.stdout.readline())
        owner.send_signal(signal.SIGKILL)

    wait_until(lambda: not is_running(server))
    wait_until(lambda: list((folder / "again").iterdir()) == [])


def test_a_server_of_the_environment_is_not_ours_to_restart() -> None:
    server = Server(admin_url="postgresql://someone@db.example:5432/postgres?sslmode=require")

    assert server.url("x") == "postgresql://someone@db.example:5432/x?sslmode=require"
    with pytest.raises(RuntimeError, match="cannot be restarted"):
        server.restart()


def start_or_skip(start: Callable[[Path], PrivateServer], folder: Path) -> PrivateServer:
    try:
        return start(folder)
    except ServerMissing as missing:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"not installed: {missing}")


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def wait_until(condition: Callable[[], bool], seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "still not so"
        time.sleep(0.05)
