"""The listening socket, bound before anything else starts, so that a port in use fails early."""

from __future__ import annotations

import errno
import socket
from collections.abc import Iterator
from contextlib import contextmanager

from tenure.core.errors import UsageError

BACKLOG = 2_048  # as uvicorn does for sockets of its own


class AddressRefused(UsageError):
    """The service cannot listen on this address."""

    code = "address_refused"

    def __init__(self, host: str, port: int, problem: OSError) -> None:
        super().__init__(_message(host, port, problem))


@contextmanager
def bound(host: str, port: int) -> Iterator[socket.socket]:
    """Listen on this address. Port 0 picks a free port."""
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        made = socket.create_server(address[:2], family=family, backlog=BACKLOG)
    except OSError as problem:
        raise AddressRefused(host, port, problem) from problem
    with made:
        yield made


def base_url(listening: socket.socket) -> str:
    """The URL of this socket for a browser on this machine."""
    host, port, *_ = listening.getsockname()
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _message(host: str, port: int, problem: OSError) -> str:
    if problem.errno == errno.EADDRINUSE:
        return (
            f"port {port} on {host} is in use, possibly by another tenure up; stop it, or choose "
            f"another port: --port {port + 1}, or --port 0 for a free one"
        )
    if problem.errno == errno.EACCES:
        return f"port {port} needs root privileges; choose one above 1023, such as --port 8000"
    return f"cannot listen on {host}, port {port}: {problem.strerror or problem}"
