"""Links that let whoever has them download one file for a time, without a key of the API.

A link carries the file, its tenant, when it expires, and an HMAC over all of that. A forged link,
an expired one and one of a file that does not exist are answered alike.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error
from contextlib import suppress
from dataclasses import dataclass

from tenure.core.errors import StoreError, VersionConflict
from tenure.stores.contract import Store
from tenure.stores.contract.parts import Record

SHORTEST_SECRET = 16
LONGEST = 1_000
"""Characters of a token; more than any that was signed has."""
COLLECTION, NAME = "files", "link secret"


@dataclass(frozen=True, slots=True)
class Link:
    """What a link gives access to."""

    file_id: str
    tenant: str
    expires_at: int


class Links:
    """Signs and reads the part of a link that follows `/files/`."""

    def __init__(self, secret: bytes) -> None:
        if len(secret) < SHORTEST_SECRET:
            raise ValueError(f"the secret of file links needs at least {SHORTEST_SECRET} bytes")
        self._secret = secret

    def sign(self, link: Link) -> str:
        """`<body>.<signature>`, both in URL-safe base64."""
        body = "\n".join((link.file_id, link.tenant, str(link.expires_at))).encode()
        return f"{_text(body)}.{_text(self._signature(body))}"

    def read(self, token: str, now: float) -> Link | None:
        """The link, where it is ours and has not expired."""
        if len(token) > LONGEST:
            return None
        body_text, _, signature_text = token.partition(".")
        try:
            body, signature = _bytes(body_text), _bytes(signature_text)
        except (ValueError, Error):
            return None
        if not hmac.compare_digest(signature, self._signature(body)):
            return None
        file_id, tenant, expires_at = body.decode().split("\n")
        link = Link(file_id, tenant, int(expires_at))
        return link if now < link.expires_at else None

    def _signature(self, body: bytes) -> bytes:
        """The prefix keeps a signature of something else from being taken for a link's."""
        return hmac.digest(self._secret, b"tenure file link\n" + body, hashlib.sha256)


def _text(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def _bytes(text: str) -> bytes:
    return urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4))


def shared_secret(store: Store) -> bytes:
    """One secret for all processes, made by whoever needs it first."""
    found = store.records.find(COLLECTION, NAME)
    if found is None:
        made = Record(collection=COLLECTION, name=NAME, data={"secret": secrets.token_hex(32)})
        with suppress(VersionConflict):  # another process was quicker
            store.records.put(made)
        found = store.records.find(COLLECTION, NAME)
    if found is None:
        raise StoreError("the secret of file links cannot be read")
    return bytes.fromhex(found.data["secret"])
