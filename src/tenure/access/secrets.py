"""Random secrets and what is kept of them: their SHA-256, which nobody can turn round.

They have 256 random bits and no dictionary helps: a slow hash would cost time and gain nothing.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets

BITS = 256
NOBODY = "0" * 64


def new_secret() -> str:
    """256 random bits as 64 digits."""
    return secrets.token_hex(BITS // 8)


def digest(secret: str) -> str:
    """What the database keeps."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def matches(secret: str, kept: str | None) -> bool:
    """Whether it is the one; takes as long whichever part differs, and where nothing is kept."""
    same = hmac.compare_digest(digest(secret), kept or NOBODY)
    return same and kept is not None
