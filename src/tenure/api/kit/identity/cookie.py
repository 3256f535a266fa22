"""The session's cookie: not for scripts, not for other sites, and not over plain HTTP elsewhere."""

from __future__ import annotations

from starlette.requests import HTTPConnection
from starlette.responses import Response

from tenure.api.kit.identity.loopback import host_of, is_loopback


def cookie_name(request: HTTPConnection) -> str:
    """On loopback cookies are shared by all ports: each service has a name of its own."""
    if _plain(request):
        return f"tenure_session_{host_of(request)[1] or 80}"
    return "__Host-tenure_session"


def set_cookie(request: HTTPConnection, response: Response, session: str, seconds: float) -> None:
    """With the answer to a login."""
    response.set_cookie(
        cookie_name(request),
        session,
        max_age=int(seconds),
        path="/",
        secure=not _plain(request),
        httponly=True,
        samesite="lax",
    )


def clear_cookie(request: HTTPConnection, response: Response) -> None:
    """With the answer to a logout."""
    response.delete_cookie(
        cookie_name(request), path="/", secure=not _plain(request), httponly=True, samesite="lax"
    )


def _plain(request: HTTPConnection) -> bool:
    """Whether the browser speaks with us on its own machine, where there is no TLS to ask for."""
    return is_loopback(host_of(request)[0]) and request.scope["scheme"] == "http"
