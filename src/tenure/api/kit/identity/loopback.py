"""Loopback addresses, which other machines cannot reach."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection

NAMES = ("localhost",)
FORWARDED = ("forwarded", "x-forwarded-for", "x-real-ip")


def is_loopback(host: str) -> bool:
    """`127.0.0.1`, `::1`, `localhost`. No other name is looked up."""
    bare = host.strip().strip("[]").lower()
    if bare in NAMES:
        return True
    try:
        return ipaddress.ip_address(bare).is_loopback
    except ValueError:
        return False


def host_of(request: HTTPConnection) -> tuple[str, int | None]:
    """Name and port of the Host header; an empty name if it cannot be parsed."""
    try:
        parts = urlsplit(f"//{request.headers.get('host', '')}")
        return parts.hostname or "", parts.port
    except ValueError:
        return "", None


def comes_from_here(request: HTTPConnection) -> bool:
    """Whether client and Host header are loopback and no proxy forwarded the request."""
    return (
        request.client is not None
        and is_loopback(request.client.host)
        # The Host header too: another site can point its name at 127.0.0.1 (DNS rebinding).
        and is_loopback(host_of(request)[0])
        and not any(name in request.headers for name in FORWARDED)
    )
