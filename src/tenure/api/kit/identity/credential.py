"""The credential of a request: an API key, a bearer token, or a session cookie."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.requests import HTTPConnection

from tenure.access.caller import How
from tenure.api.kit.identity.cookie import cookie_name
from tenure.core.refusals import (
    Unauthenticated,
)

API_KEY = "x-api-key"
KEY_PREFIX = "tenure_"
# Longer than any token, shorter than what a server accepts as a header: hashing stays cheap.
LONGEST = 16_384
INVALID = 'Bearer error="invalid_token"'


@dataclass(frozen=True, slots=True)
class Credential:
    """Kind and text; its repr does not show the text."""

    how: How
    text: str

    def __repr__(self) -> str:
        return f"Credential({self.how})"


def credential_of(request: HTTPConnection) -> Credential:
    """A header is preferred to the cookie; two headers are refused."""
    given = [*request.headers.getlist("authorization"), *request.headers.getlist(API_KEY)]
    # A proxy might check one of two headers and pass on both.
    if len(given) > 1:
        raise Unauthenticated(f"send one credential: Authorization or {API_KEY}, once", INVALID)
    if not given:
        return _from_cookie(request)
    if len(given[0]) > LONGEST:
        raise Unauthenticated("the credential is too long to be one", INVALID)
    if API_KEY in request.headers:
        return Credential(How.KEY, given[0])
    return _from_authorization(given[0])


def has_credential(request: HTTPConnection) -> bool:
    """Whether a header has a credential."""
    return "authorization" in request.headers or API_KEY in request.headers


def _from_authorization(value: str) -> Credential:
    scheme, _, text = value.partition(" ")
    text = text.strip()
    if scheme.lower() != "bearer" or not text:
        raise Unauthenticated("Authorization must say: Bearer KEY-OR-TOKEN", INVALID)
    return Credential(How.KEY if text.startswith(KEY_PREFIX) else How.TOKEN, text)


def _from_cookie(request: HTTPConnection) -> Credential:
    text = request.cookies.get(cookie_name(request)) if request.cookies else None
    if not text or len(text) > LONGEST:
        raise Unauthenticated(
            "this needs an API key (tenure keys create), as Authorization: Bearer KEY"
        )
    return Credential(How.SESSION, text)
