"""Cursors for clients: the store's own, with a checksum of the list that they belong to.

The checksum is no secret: forging it shows another page of what the caller may see anyway.
"""

from __future__ import annotations

import hashlib
import hmac

from tenure.api.kit.errors import InvalidCursor


def seal(inner: str | None, question: str) -> str | None:
    """A cursor for clients, of a list with this filter."""
    return None if inner is None else f"{inner}.{_seal(inner, question)}"


def unseal(text: str | None, question: str) -> str | None:
    """The store's cursor; InvalidCursor if it was changed or belongs to another filter."""
    if text is None:
        return None
    inner, _, said = text.rpartition(".")
    # compare_digest refuses other text with an error.
    plain = text.isascii() and text.isprintable()
    if not plain or not hmac.compare_digest(said, _seal(inner, question)):
        raise InvalidCursor
    return inner


def _seal(inner: str, question: str) -> str:
    text = f"{inner}\n{question}"
    return hashlib.blake2b(text.encode(), digest_size=9, person=b"cursor").hexdigest()
