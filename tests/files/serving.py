"""A server of files in a process of its own, and a line to it that can be cut."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

from tenure import Tenure
from tenure.access import Keys, Permission
from tests.support.until import until

ADDRESS = re.compile(r"serving (http://\S+)")


class FileServer:
    """`tenure api` on a SQLite file."""

    def __init__(self, folder: Path) -> None:
        self._log = folder / "log"
        self.database = f"sqlite:///{folder / 'jobs.db'}"
        app = Tenure(self.database)
        self.key = Keys(app).create("test", Permission.ADMIN, actor="test")[0]
        app.close()
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tenure", "api", "--port", "0"],
                env={**os.environ, "TENURE_DATABASE_URL": self.database, "PYTHONUNBUFFERED": "1"},
                stdout=log,
                stderr=log,
            )
        self.url = until(lambda: ADDRESS.findall(self.log), 40)[0]

    @property
    def log(self) -> str:
        """All that it printed."""
        return self._log.read_text()

    @property
    def headers(self) -> dict[str, str]:
        """Those of a caller who may do everything."""
        return {"authorization": f"Bearer {self.key}"}

    @property
    def memory(self) -> int:
        """The bytes that it has in memory now."""
        return self._status("VmRSS")

    @property
    def peak_memory(self) -> int:
        """The most that it ever had."""
        return self._status("VmHWM")

    def _status(self, name: str) -> int:
        text = Path(f"/proc/{self._process.pid}/status").read_text()
        found = re.search(rf"^{name}:\s+(\d+) kB$", text, re.MULTILINE)
        assert found is not None
        return int(found[1]) * 1024

    def stop(self) -> None:
        """As a service manager does."""
        self._process.send_signal(signal.SIGTERM)
        assert self._process.wait(40) == 0, self.log


@contextmanager
def serving(folder: Path) -> Iterator[FileServer]:
    """A server that is there as long as the block."""
    server = FileServer(folder)
    try:
        yield server
    finally:
        server.stop()


class Line:
    """A port that passes everything on to a server, and cuts a connection after so many bytes."""

    def __init__(self, url: str) -> None:
        self._server = (urlsplit(url).hostname, urlsplit(url).port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.allowed: int | None = None
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                theirs, _ = self._listener.accept()
                threading.Thread(target=self._carry, args=(theirs,), daemon=True).start()

    def _carry(self, theirs: socket.socket) -> None:
        with theirs, socket.create_connection(self._server) as ours:
            back = threading.Thread(target=self._pass, args=(ours, theirs, False), daemon=True)
            back.start()
            self._pass(theirs, ours, True)
            back.join()

    def _pass(self, source: socket.socket, target: socket.socket, counted: bool) -> None:
        with suppress(OSError):
            while data := source.recv(4_096):
                if counted and self.allowed is not None:
                    data, self.allowed = data[: self.allowed], self.allowed - len(data)
                    target.sendall(data)
                    if self.allowed <= 0:
                        break
                else:
                    target.sendall(data)
        for one in (source, target):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """No more connections."""
        self._listener.close()
