"""The session cookie: HttpOnly, SameSite, and Secure except on loopback."""

from __future__ import annotations

from starlette.requests import HTTPConnection
from starlette.responses import Response

from tenure.api.kit.identity.loopback import host_of, is_loopback


def cookie_name(request: HTTPConnection) -> str:
    """With the port on loopback, because browsers share cookies between ports there."""
    if _plain(request):
        return f"tenure_session_{host_of(request)[1] or 80}"
    # The prefix makes browsers insist on Secure, Path=/ and no Domain: a subdomain cannot set it.
    return "__Host-tenure_session"


def set_cookie(request: HTTPConnection, response: Response, session: str, seconds: float) -> None:
    """Set the cookie after a login."""
    response.set_cookie(
        cookie_name(request),
        session,
        max_age=int(seconds),
        path="/",
        secure=not _plain(request),
        httponly=True,
        # Lax, not strict: a link in a mail to the dashboard must find the session.
        samesite="lax",
    )


def clear_cookie(request: HTTPConnection, response: Response) -> None:
    """Remove the cookie after a logout."""
    response.delete_cookie(
        cookie_name(request), path="/", secure=not _plain(request), httponly=True, samesite="lax"
    )


def _plain(request: HTTPConnection) -> bool:
    """Whether the browser uses plain HTTP on its own machine."""
    return is_loopback(host_of(request)[0]) and request.scope["scheme"] == "http"
