"""Groups failures that differ only in numbers, ids and quoted words. Pure."""

from __future__ import annotations

import hashlib
import re

MESSAGE_LENGTH = 300
# In this order: an address inside quotes goes with its quotes, a number inside an id with the id.
PATTERNS = (
    (re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`|<[^<>]*>"), "<…>"),
    (re.compile(r"\b[a-z][a-z0-9+.-]*://\S+", re.IGNORECASE), "<url>"),
    (re.compile(r"\b[\w.+-]+@[\w-]+(\.[\w-]+)+\b"), "<email>"),
    (re.compile(r"\b[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}\b", re.IGNORECASE), "<id>"),
    (re.compile(r"\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,}\b", re.IGNORECASE), "<id>"),
    (re.compile(r"\b0x[0-9a-f]+\b", re.IGNORECASE), "<id>"),
    (re.compile(r"\b(?=\w*\d)(?=\w*[a-z])[\w]{12,}\b", re.IGNORECASE), "<id>"),
    (re.compile(r"(?<![a-z_])[-+]?\d[\d.,:_]*", re.IGNORECASE), "<n>"),
    (re.compile(r"\s+"), " "),
)  # fmt: skip


def normalised(message: str) -> str:
    """The message without what differs from one failure to the next, in one line.

    >>> normalised("order 17 of 'acme' not found")
    'order <n> of <…> not found'
    """
    text = message[: 4 * MESSAGE_LENGTH]
    for pattern, word in PATTERNS:
        text = pattern.sub(word, text)
    return text.strip()[:MESSAGE_LENGTH]


def group_of(type_name: str, message: str) -> int:
    """The number of the group that such a failure belongs to. Kinds are told apart beside it."""
    text = f"{type_name}\n{normalised(message)}".encode()
    # 63 bits, so that every database can keep it.
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big") >> 1


def shown(group: int) -> str:
    """The group's id for people and URLs."""
    return f"{group:016x}"


def parsed(text: str) -> int | None:
    """The number of such an id; None for any other text."""
    if not re.fullmatch("[0-7][0-9a-f]{15}", text):
        return None
    return int(text, 16)
