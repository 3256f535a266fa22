"""Private Redis and RabbitMQ on loopback, with their files in a temporary folder."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from bench.children import ROOT, end

RABBITMQ = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")
PATIENCE_SECONDS = 60.0
PACKAGES = {"redis-server": "redis-server", "rabbitmq-server": str(RABBITMQ)}


class BrokerFailed(Exception):
    """It is not there, or it did not come up; the message says which."""


@dataclass(frozen=True)
class Broker:
    """Where it listens, and the process to charge."""

    url: str
    pid: int


def install() -> None:
    """Debian's packages, where they are missing and may be installed."""
    missing = [package for package, program in PACKAGES.items() if not shutil.which(program)]
    if missing:
        subprocess.run([ROOT / "tools" / "apt-install.sh", *missing], check=False)


@contextmanager
def redis() -> Iterator[Broker]:
    """With an append-only file that is synced every second: the usual durable set-up."""
    program = shutil.which("redis-server")
    if program is None:
        raise BrokerFailed("redis-server is not installed")
    port = _free_port()
    with tempfile.TemporaryDirectory(prefix="tenure-redis-") as folder:
        place = ["--bind", "127.0.0.1", "--port", str(port), "--dir", folder, "--save", ""]
        durable = ["--appendonly", "yes", "--appendfsync", "everysec"]
        with _running([program, *place, *durable], Path(folder), {}) as process:
            _wait("Redis", process, port)
            yield Broker(f"redis://127.0.0.1:{port}/0", process.pid)


@contextmanager
def rabbitmq() -> Iterator[Broker]:
    """A node with a port mapper of its own, so that nothing of it stays or is found outside."""
    epmd = shutil.which("epmd")
    if not RABBITMQ.is_file() or epmd is None:
        raise BrokerFailed("rabbitmq-server is not installed")
    port, mapper = _free_port(), _free_port()
    with ExitStack() as stack:
        name = stack.enter_context(tempfile.TemporaryDirectory(prefix="tenure-rabbitmq-"))
        folder = Path(name)
        settings = _rabbitmq_settings(folder, port, mapper)
        mapping = [epmd, "-port", str(mapper), "-address", "127.0.0.1"]
        stack.enter_context(_running(mapping, folder, settings))
        process = stack.enter_context(_running([str(RABBITMQ)], folder, settings))
        _wait("RabbitMQ", process, port)
        yield Broker(f"amqp://guest:guest@127.0.0.1:{port}//", process.pid)


def _rabbitmq_settings(folder: Path, port: int, mapper: int) -> dict[str, str]:
    (folder / "plugins").write_text("[].\n")
    (folder / "environment").write_text("")
    return {
        "HOME": str(folder),
        "ERL_EPMD_PORT": str(mapper),
        "ERL_EPMD_ADDRESS": "127.0.0.1",
        "RABBITMQ_NODENAME": f"tenure{port}@localhost",
        "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
        "RABBITMQ_NODE_PORT": str(port),
        "RABBITMQ_DIST_PORT": str(_free_port()),
        "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-kernel inet_dist_use_interface {127,0,0,1}",
        "RABBITMQ_MNESIA_BASE": str(folder / "data"),
        "RABBITMQ_LOG_BASE": str(folder / "logs"),
        "RABBITMQ_PID_FILE": str(folder / "pid"),
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "plugins"),
        "RABBITMQ_CONF_ENV_FILE": str(folder / "environment"),
        "RABBITMQ_CONFIG_FILE": str(folder / "none"),
    }


@contextmanager
def _running(
    command: Sequence[str], folder: Path, environment: Mapping[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    with (folder / "output").open("ab") as output:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        end(process)


def _wait(name: str, process: subprocess.Popen[bytes], port: int) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        with suppress(OSError), closing(socket.create_connection(("127.0.0.1", port), 1.0)):
            return
        time.sleep(0.1)
    raise BrokerFailed(f"{name} could not be started privately")


def _free_port() -> int:
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
