"""An issuer of tokens: its keys on a real server, and a hand that signs whatever is asked."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

from tenure.access import IdentitySettings
from tenure.asgi.messages import Receive, Scope, Send
from tests.api.identity.server import serve

ISSUER = "https://login.example.org/acme/v2.0"
AUDIENCE = "api://tenure"


@cache
def private_key(name: str, bits: int = 2_048) -> rsa.RSAPrivateKey:
    """Made once for all tests: making one takes a while."""
    return rsa.generate_private_key(public_exponent=65_537, key_size=bits)


def public_jwk(name: str, kid: str, **more: Any) -> dict[str, Any]:
    """As an issuer publishes it."""
    told: dict[str, Any] = RSAAlgorithm.to_jwk(private_key(name).public_key(), as_dict=True)
    return {**told, "kid": kid, "use": "sig", "alg": "RS256", **more}


def public_pem(name: str) -> bytes:
    return (
        private_key(name)
        .public_key()
        .public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    )


@dataclass
class Issuer:
    """`keys` is the document it serves; `status` another answer than 200; `asked` counts;
    before `go_on` it does not answer.
    """

    url: str = ""
    keys: list[dict[str, Any]] = field(default_factory=lambda: [public_jwk("one", "k1")])
    status: int = 200
    body: bytes | None = None
    asked: int = 0
    go_on: threading.Event | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.asked += 1
        if self.go_on is not None:
            await asyncio.to_thread(self.go_on.wait, 20)
        body = json.dumps({"keys": self.keys}).encode() if self.body is None else self.body
        headers = [(b"content-type", b"application/json"), (b"location", b"/elsewhere")]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    def settings(self, **more: Any) -> IdentitySettings:
        """An API that takes its tokens."""
        given: dict[str, Any] = {
            "jwt_issuer": ISSUER,
            "jwt_audience": (AUDIENCE,),
            "jwt_jwks_url": self.url,
            "identity_cache_seconds": 0,
        }
        return IdentitySettings(**{**given, **more})


@contextmanager
def serve_issuer() -> Iterator[Issuer]:
    issuer = Issuer()
    with serve(issuer) as address:
        issuer.url = f"{address}/keys"
        yield issuer


def claims(**more: Any) -> dict[str, Any]:
    """Of a good token; None takes a claim away."""
    now = int(time.time())
    told = {
        "iss": ISSUER,
        "aud": AUDIENCE,
        "exp": now + 600,
        "nbf": now - 10,
        "iat": now - 10,
        "tid": "acme",
        "oid": "ada",
        "scp": "tenure.write profile",
        **more,
    }
    return {name: value for name, value in told.items() if value is not None}


def token(key: str = "one", kid: str | None = "k1", **more: Any) -> str:
    """Signed by RS256, as an issuer does."""
    headers = {} if kid is None else {"kid": kid}
    return jwt.encode(claims(**more), private_key(key), "RS256", headers)
