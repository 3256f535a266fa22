"""A private RabbitMQ for tests: its own node name, cookie, port mapper and ports on loopback."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from tests.support.servers import (
    PATIENCE_SECONDS,
    SERVER_USER,
    WATCHDOG,
    Command,
    PrivateServer,
    Server,
    ServerFailed,
    ServerMissing,
    free_port,
    make_home,
    spawn,
)

RABBITMQ = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")
GREETING = b"AMQP\x00\x00\x09\x01"


@dataclass(kw_only=True)
class PrivateBroker(PrivateServer):
    """Two process groups: the node, and the mapper that a node would else leave behind."""

    port: int
    mapping: Command
    mapper: subprocess.Popen[bytes] = field(init=False)

    def start(self) -> Self:
        self.mapper = spawn(self.mapping, self.home, SERVER_USER)
        self.process = spawn(self.command, self.home, SERVER_USER)
        groups = [str(-self.process.pid), str(-self.mapper.pid)]
        program = WATCHDOG.replace("os.kill(server, 9)", KILL_BOTH)
        watched = [str(os.getpid()), groups[0], str(self.home), groups[1]]
        self.watchdog = spawn([sys.executable, "-c", program, *watched], self.home, None)
        self._wait_until_ready()
        return self

    def _end(self, how: signal.Signals) -> None:
        self.watchdog.kill()
        self.watchdog.wait(PATIENCE_SECONDS)
        for process in (self.process, self.mapper):
            with suppress(ProcessLookupError):
                os.killpg(process.pid, how)
            process.wait(PATIENCE_SECONDS)

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while self.process.poll() is None and time.monotonic() < deadline:
            if self._greets():
                return
            time.sleep(0.1)
        self.stop()
        raise ServerFailed(self.command[0], self.home)

    def _greets(self) -> bool:
        with suppress(OSError), closing(socket.create_connection(("127.0.0.1", self.port), 1)) as s:
            s.settimeout(5.0)
            s.sendall(GREETING)
            return bool(s.recv(1))
        return False


KILL_BOTH = """
for group in (server, int(sys.argv[4])):
    try:
        os.kill(group, 9)
    except ProcessLookupError:
        pass
""".strip()


def rabbitmq_from_environment() -> Server | None:
    """The broker that TENURE_TEST_RABBITMQ names."""
    return Server(admin_url=url) if (url := os.environ.get("TENURE_TEST_RABBITMQ")) else None


def start_rabbitmq(folder: Path) -> PrivateBroker:
    """Start a RabbitMQ with its data in `folder`, which comes from `server_folder`."""
    epmd = shutil.which("epmd")
    if not RABBITMQ.is_file() or epmd is None:
        raise ServerMissing("RabbitMQ: apt-get install rabbitmq-server")
    home, port, mapper = make_home(folder / "rabbitmq"), free_port(), free_port()
    (home / "plugins").write_text("[].\n")
    (home / "environment").write_text("")
    settings = [f"{name}={value}" for name, value in _settings(home, port, mapper).items()]
    return PrivateBroker(
        admin_url=f"amqp://guest:guest@127.0.0.1:{port}/",
        home=home,
        port=port,
        command=["/usr/bin/env", *settings, RABBITMQ],
        mapping=["/usr/bin/env", *settings, epmd, "-port", str(mapper), "-address", "127.0.0.1"],
        crash_signal=signal.SIGKILL,
        quit_signal=signal.SIGTERM,
    ).start()


def _settings(home: Path, port: int, mapper: int) -> dict[str, object]:
    return {
        "HOME": home,
        "ERL_EPMD_PORT": mapper,
        "ERL_EPMD_ADDRESS": "127.0.0.1",
        "RABBITMQ_NODENAME": f"tenure{port}@localhost",
        "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
        "RABBITMQ_NODE_PORT": port,
        "RABBITMQ_DIST_PORT": free_port(),
        "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-kernel inet_dist_use_interface {127,0,0,1}",
        "RABBITMQ_MNESIA_BASE": home / "data",
        "RABBITMQ_LOG_BASE": home / "logs",
        "RABBITMQ_PID_FILE": home / "pid",
        "RABBITMQ_ENABLED_PLUGINS_FILE": home / "plugins",
        "RABBITMQ_CONF_ENV_FILE": home / "environment",
        "RABBITMQ_CONFIG_FILE": home / "none",
    }
