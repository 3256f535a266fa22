"""JSON of payloads and results. What cannot be stored is refused before anything is written."""

from __future__ import annotations

import json
from typing import Any

from tenure.core.errors import PayloadError
from tenure.jobs.canonical_json import CANONICAL, quickly

EMPTY = "{}"
MAX_DEPTH_MESSAGE = "is nested too deeply"


def encode(value: Any, limit: int, what: str = "payload") -> str:
    """Canonical JSON text: sorted keys, so that equal payloads are equal texts."""
    # None means that something is wrong with the value; the careful encoder finds out what.
    raw = quickly(value)
    return fitting(_carefully(value, what) if raw is None else raw, limit, what)


def fitting(raw: bytes, limit: int, what: str = "payload") -> str:
    """Text of at most `limit` bytes."""
    if len(raw) > limit:
        raise PayloadError(
            f"the {what} has {len(raw):,} bytes and the limit is {limit:,}: "
            "store it elsewhere and pass its name (or raise TENURE_PAYLOAD_LIMIT_BYTES)"
        )
    return raw.decode()


def decode(text: str) -> Any:
    """The value of a JSON text."""
    return json.loads(text)


def _carefully(value: Any, what: str) -> bytes:
    """Encode again to find out what is wrong."""
    try:
        return CANONICAL.encode(value).encode()
    except UnicodeEncodeError as error:
        raise PayloadError(f"the {what} holds a lone surrogate, which is no text") from error
    except RecursionError as error:
        raise PayloadError(f"the {what} {MAX_DEPTH_MESSAGE}") from error
    except ValueError as error:
        raise PayloadError(
            f"the {what} is not JSON: {error} (NaN and infinities have no form)"
        ) from error
    except TypeError as error:
        raise PayloadError(f"the {what} is not JSON: {error}; pass plain values") from error
