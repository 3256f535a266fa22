"""Makes text safe to log: a single line that cannot be forged, without secrets."""

from __future__ import annotations

import re

READ, CLIPPED = 2_000, 300
MASK = "***"
SUSPECT = r"(?:passw(?:or)?d|pwd|secret|token|api[_-]?key|authorization|cookie|credential)s?"
IN_URL = re.compile(r"(\b[a-z][a-z0-9+.-]{0,30}://[^\s:/@]{0,200}):[^\s]{0,500}@", re.IGNORECASE)
BEARER = re.compile(r"\b(bearer|basic)\s+[\w.~+/=-]+", re.IGNORECASE)
OURS = re.compile(r"\b(tenure_[0-9a-f]{12})_[0-9a-f]{64}")
SIGNED = re.compile(r"(?<![\w-])eyJ[\w-]{8,}+\.[\w-]{8,}+\.[\w-]*+")
ASSIGNED = re.compile(
    rf"({SUSPECT}[\w-]{{0,50}}[\"']?\s{{0,5}}[=:]\s{{0,5}})(?:\"[^\"]*\"|'[^']*'|[^\s,;&)}}]+)",
    re.IGNORECASE,
)
NAMED = re.compile(SUSPECT, re.IGNORECASE)


def clean(text: str) -> str:
    """The text as one line: unprintable characters are escaped, passwords and tokens masked."""
    if not text.isprintable():
        text = "".join(one if one.isprintable() else _spelled(one) for one in text)
    return mask(text)


def clip(text: str) -> str:
    """The same, with white space normalised and the length limited."""
    return clean(" ".join(text[:READ].split()))[:CLIPPED]


def mask(text: str) -> str:
    """Without what looks like a secret: in URLs, after `password=` and its like, after `Bearer`;
    and without API keys and signed tokens, wherever they stand.
    """
    text = BEARER.sub(rf"\1 {MASK}", IN_URL.sub(rf"\1:{MASK}@", text))
    text = SIGNED.sub(MASK, OURS.sub(rf"\1_{MASK}", text))
    return ASSIGNED.sub(rf"\1{MASK}", text)


def plural(count: int, noun: str) -> str:
    """`1 job`, `2 jobs`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def is_secret(name: str) -> bool:
    """Whether values of this name are secret."""
    return NAMED.search(name) is not None


def _spelled(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")
