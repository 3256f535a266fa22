"""Private database servers for tests, gone with the process that started them.

Not a fixture and not a pool: `conftest.py` decides how long a server lives.
"""

from __future__ import annotations

import os
import pwd
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Self
from urllib.parse import urlsplit
from uuid import uuid4

from sqlalchemy import NullPool, create_engine, make_url
from sqlalchemy.exc import OperationalError

PATIENCE_SECONDS = 60.0
OLDEST_POSTGRES = 15
DEBIAN_POSTGRES = Path("/usr/lib/postgresql")
Command = Sequence[str | Path]
User = pwd.struct_passwd
DRIVERS = {"postgresql": "postgresql+psycopg", "mysql": "mysql+pymysql"}

# Database servers refuse to run as root.
SERVER_USER = pwd.getpwnam("nobody") if os.geteuid() == 0 else None

# Below the kernel's ephemeral range: while a server is down for a restart, no outgoing
# connection (not even a client that connects to itself) can take its port.
PORTS = range(15_000, 30_000)

# The parent may die by SIGKILL, so only somebody else can clean up. A death signal is tied to
# the thread that forked, a pipe stays open in forked workers; watching the parent is neither.
WATCHDOG = """
import os, shutil, sys, time
parent, server, home = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
while os.getppid() == parent:
    time.sleep(0.1)
os.kill(server, 9)
shutil.rmtree(home, ignore_errors=True)
"""


class ServerMissing(Exception):
    """The program of a server is not installed."""


class ServerFailed(Exception):
    """A program ended badly or did not answer in time; its log says why."""

    def __init__(self, program: str | Path, home: Path) -> None:
        super().__init__(f"{program}:\n{(home / 'log').read_text(errors='replace')[-2000:]}")


@dataclass(kw_only=True)
class Server:
    """A server that somebody else runs; the user of `admin_url` may create databases."""

    lasting: ClassVar[bool] = True
    admin_url: str

    def url(self, database: str) -> str:
        return urlsplit(self.admin_url)._replace(path=f"/{database}").geturl()

    def create_database(self) -> str:
        """Create a database that nobody else uses and return its URL."""
        name = f"tenure_{uuid4().hex[:16]}"
        execute(self.admin_url, f"CREATE DATABASE {name}")
        return self.url(name)

    def drop_database(self, url: str) -> None:
        """Drop the database of this URL, also when somebody is still connected to it."""
        force = "" if self.admin_url.startswith("mysql") else " WITH (FORCE)"
        execute(self.admin_url, f"DROP DATABASE IF EXISTS {urlsplit(url).path.strip('/')}{force}")

    def restart(self, immediate: bool = True) -> None:
        raise RuntimeError("a server named by TENURE_TEST_... cannot be restarted")

    def stop(self) -> None:
        """Nothing: whoever started it stops it."""


@dataclass(kw_only=True)
class PrivateServer(Server):
    """A server that this process started; a restart keeps its port and its data, `stop` nothing."""

    lasting: ClassVar[bool] = False
    home: Path
    command: Command
    crash_signal: signal.Signals
    quit_signal: signal.Signals
    process: subprocess.Popen[bytes] = field(init=False)
    watchdog: subprocess.Popen[bytes] = field(init=False)

    def start(self) -> Self:
        self.process = spawn(self.command, self.home, SERVER_USER)
        watched = [str(os.getpid()), str(self.process.pid), str(self.home)]
        self.watchdog = spawn([sys.executable, "-c", WATCHDOG, *watched], self.home, None)
        self._wait_until_ready()
        return self

    def restart(self, immediate: bool = True) -> None:
        """End the server, by a crash or in good order, and start it again."""
        self._end(self.crash_signal if immediate else self.quit_signal)
        self.start()

    def stop(self) -> None:
        self._end(self.crash_signal)

    def _end(self, how: signal.Signals) -> None:
        # The watchdog goes first: it must never signal a process id that is free again.
        self.watchdog.kill()
        self.watchdog.wait(PATIENCE_SECONDS)
        self.process.send_signal(how)
        self.process.wait(PATIENCE_SECONDS)

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while self.process.poll() is None and time.monotonic() < deadline:
            with suppress(OperationalError):
                return execute(self.admin_url, "SELECT 1")
            time.sleep(0.02)
        self.stop()
        raise ServerFailed(self.command[0], self.home)


def postgres_from_environment() -> Server | None:
    """The server that TENURE_TEST_POSTGRES names, as a URL that may create databases."""
    return Server(admin_url=url) if (url := os.environ.get("TENURE_TEST_POSTGRES")) else None


def mysql_from_environment() -> Server | None:
    """The server that TENURE_TEST_MYSQL names, as a URL that may create databases."""
    return Server(admin_url=url) if (url := os.environ.get("TENURE_TEST_MYSQL")) else None


def start_postgres(folder: Path) -> PrivateServer:
    """Start a PostgreSQL with its data in `folder`, which comes from `server_folder`."""
    programs = _postgres_programs()
    home, port = make_home(folder / "postgres"), free_port()
    data = ["-D", str(home / "data")]
    _run([programs / "initdb", *data, "-Upostgres", "-Atrust", "-EUTF8", "--no-locale"], home)
    network = ["--listen_addresses=127.0.0.1", f"--port={port}", "-k", str(home)]
    options = ["--fsync=on", "--max_connections=200", "--shared_buffers=64MB"]
    return PrivateServer(
        admin_url=f"postgresql://postgres@127.0.0.1:{port}/postgres",
        home=home,
        command=[programs / "postgres", *data, *network, *options],
        # Its own word for a crash: no checkpoint, but it waits until its backends are gone.
        crash_signal=signal.SIGQUIT,
        quit_signal=signal.SIGINT,
    ).start()


def start_mariadb(folder: Path) -> PrivateServer:
    """Start a MariaDB with its data in `folder`, which comes from `server_folder`."""
    daemon, install = _mariadb_program("mariadbd"), _mariadb_program("mariadb-install-db")
    home, port = make_home(folder / "mariadb"), free_port()
    data = ["--no-defaults", f"--datadir={home / 'data'}"]
    _run([install, *data, "--auth-root-authentication-method=normal", "--skip-test-db"], home)
    network = ["--bind-address=127.0.0.1", f"--port={port}", f"--socket={home / 'socket'}"]
    naming = ["--skip-name-resolve", "--character-set-server=utf8mb4", f"--pid-file={home / 'pid'}"]
    limits = ["--max-connections=200", "--innodb-buffer-pool-size=64M", "--lock-wait-timeout=30"]
    return PrivateServer(
        admin_url=f"mysql://root@127.0.0.1:{port}/mysql",
        home=home,
        command=[daemon, *data, "--innodb-flush-log-at-trx-commit=1", *network, *naming, *limits],
        crash_signal=signal.SIGKILL,
        quit_signal=signal.SIGTERM,
    ).start()


@contextmanager
def server_folder() -> Iterator[Path]:
    """A temporary folder that the servers' own users can enter, unlike pytest's."""
    with tempfile.TemporaryDirectory(prefix="tenure-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def execute(url: str, statement: str) -> None:
    """Run one statement on a connection of its own, outside any transaction."""
    address = make_url(url)
    address = address.set(drivername=DRIVERS.get(address.drivername, address.drivername))
    engine = create_engine(address, poolclass=NullPool, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql(statement)


def spawn(command: Command, home: Path, user: User | None) -> subprocess.Popen[bytes]:
    """Start a process in a session of its own, so that Ctrl-C in a terminal does not reach it.

    Its temporary files are its own: a MariaDB that starts removes everybody's in their folder.
    """
    with (home / "log").open("ab") as log:
        return subprocess.Popen(
            command,
            cwd=home,
            env={**os.environ, "TMPDIR": str(home)},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            user=user.pw_uid if user else None,
            group=user.pw_gid if user else None,
            extra_groups=[] if user else None,
        )


def _run(command: Command, home: Path) -> None:
    if spawn(command, home, SERVER_USER).wait(PATIENCE_SECONDS) != 0:
        raise ServerFailed(command[0], home)


def make_home(home: Path) -> Path:
    home.mkdir()
    if SERVER_USER:
        os.chown(home, SERVER_USER.pw_uid, SERVER_USER.pw_gid)
    return home


def free_port() -> int:
    # Not the shared generator: a seeded test would ask for the same port as its neighbour.
    for port in random.SystemRandom().sample(PORTS, k=100):
        with socket.socket() as candidate, suppress(OSError):
            candidate.bind(("127.0.0.1", port))
            return port
    raise RuntimeError(f"no free port found in {PORTS}")


def _postgres_programs() -> Path:
    """The folder of the newest PostgreSQL; Debian keeps each version's off the PATH."""
    found = {int(path.parts[-3]): path.parent for path in DEBIAN_POSTGRES.glob("[0-9]*/bin/initdb")}
    if max(found, default=0) >= OLDEST_POSTGRES:
        return found[max(found)]
    if on_path := shutil.which("initdb"):
        return Path(on_path).resolve().parent
    raise ServerMissing(f"PostgreSQL {OLDEST_POSTGRES} or newer: apt-get install postgresql")


def _mariadb_program(name: str) -> str:
    path = shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
    if path is None:
        raise ServerMissing(f"MariaDB ({name}): apt-get install mariadb-server")
    return path
