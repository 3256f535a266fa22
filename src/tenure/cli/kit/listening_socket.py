"""The socket of a service: bound before anything starts, so that a taken port is said at once."""

from __future__ import annotations

import errno
import socket
from collections.abc import Iterator
from contextlib import contextmanager

from tenure.core.errors import UsageError

BACKLOG = 2_048


class AddressRefused(UsageError):
    """The address cannot be listened on."""

    code = "address_refused"

    def __init__(self, host: str, port: int, problem: OSError) -> None:
        super().__init__(_told(host, port, problem))


@contextmanager
def bound(host: str, port: int) -> Iterator[socket.socket]:
    """A socket that listens at this address; port 0 is any that is free."""
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        made = socket.create_server(address[:2], family=family, backlog=BACKLOG)
    except OSError as problem:
        raise AddressRefused(host, port, problem) from problem
    with made:
        yield made


def base_url(listening: socket.socket) -> str:
    """What a person opens on this machine."""
    host, port, *_ = listening.getsockname()
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _told(host: str, port: int, problem: OSError) -> str:
    if problem.errno == errno.EADDRINUSE:
        return (
            f"port {port} of {host} is in use, maybe by another tenure up; stop that one, or take "
            f"another port: --port {port + 1}, or --port 0 for any that is free"
        )
    if problem.errno == errno.EACCES:
        return f"port {port} is for privileged users; take one above 1023, like --port 8000"
    return f"cannot listen on {host}, port {port}: {problem.strerror or problem}"
