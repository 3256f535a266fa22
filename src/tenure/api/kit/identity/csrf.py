"""CSRF protection: a change with a session cookie must come from a page of ours."""

from __future__ import annotations

import hashlib
import hmac
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection

from tenure.core.refusals import (
    Forbidden,
)

CSRF = "x-csrf-token"
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
OWN = ("same-origin", "none")


class CsrfRefused(Forbidden):
    """A request with a session cookie did not come from a page of ours."""

    code = "csrf_refused"


def csrf_token(session: str) -> str:
    """The CSRF token of a session: scripts of our pages can read it, other sites cannot."""
    # Derived from the session: nothing more has to be stored, and it ends with the session.
    return hmac.new(session.encode(), b"csrf", hashlib.sha256).hexdigest()


def check_csrf(request: HTTPConnection, session: str) -> None:
    """CsrfRefused for a change without the token or from another site."""
    if request.scope.get("method") in SAFE:
        return
    given = request.headers.get(CSRF, "")
    if not hmac.compare_digest(given.encode("latin-1"), csrf_token(session).encode()):
        raise CsrfRefused(f"send the header {CSRF} with changes; GET /session returns it")
    if not _from_our_page(request):
        raise CsrfRefused("this request comes from a page of another site")


def _from_our_page(request: HTTPConnection) -> bool:
    # Browsers send Origin with every change; the fetch metadata is for requests without one.
    origin = request.headers.get("origin")
    if origin is not None:
        return urlsplit(origin).netloc == request.headers.get("host")
    return request.headers.get("sec-fetch-site", OWN[0]) in OWN
