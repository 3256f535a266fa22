"""Random secrets, and their SHA-256, which is what the database keeps.

They have 256 random bits, so no dictionary helps: a slow password hash would gain nothing.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets

BITS = 256
NOBODY = "0" * 64


def new_secret() -> str:
    """256 random bits as 64 hexadecimal digits."""
    return secrets.token_hex(BITS // 8)


def digest(secret: str) -> str:
    """The hash that the database keeps."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def matches(secret: str, kept: str | None) -> bool:
    """Whether it is the secret of a stored hash. Takes the same time in every case."""
    same = hmac.compare_digest(digest(secret), kept or NOBODY)
    return same and kept is not None
