"""Whether an address is this machine's own, which no other machine reaches."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection

NAMES = ("localhost",)
FORWARDED = ("forwarded", "x-forwarded-for", "x-real-ip")


def is_loopback(host: str) -> bool:
    """`127.0.0.1`, `::1`, `localhost`. Any other name could mean anything."""
    bare = host.strip().strip("[]").lower()
    if bare in NAMES:
        return True
    try:
        return ipaddress.ip_address(bare).is_loopback
    except ValueError:
        return False


def host_of(request: HTTPConnection) -> tuple[str, int | None]:
    """Name and port that the client asked for; what cannot be read is nobody's name."""
    try:
        parts = urlsplit(f"//{request.headers.get('host', '')}")
        return parts.hostname or "", parts.port
    except ValueError:
        return "", None


def comes_from_here(request: HTTPConnection) -> bool:
    """Asked on this machine and for this machine: no page of another site, no proxy in between."""
    return (
        request.client is not None
        and is_loopback(request.client.host)
        and is_loopback(host_of(request)[0])
        and not any(name in request.headers for name in FORWARDED)
    )
