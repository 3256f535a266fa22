"""JSON in and out, once each way. What cannot be stored is refused here, before anything is."""

from __future__ import annotations

import json
from typing import Any

from tenure.core.errors import PayloadError

MAX_DEPTH_MESSAGE = "is nested too deeply"
CANONICAL = json.JSONEncoder(
    allow_nan=False, ensure_ascii=False, sort_keys=True, separators=(",", ":")
)


def encode(value: Any, limit: int, what: str = "payload") -> str:
    """Canonical JSON text: sorted keys, so that equal payloads are equal texts."""
    try:
        text = CANONICAL.encode(value)
        size = len(text.encode("utf-8"))
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
    if size > limit:
        raise PayloadError(
            f"the {what} has {size:,} bytes and the limit is {limit:,}: "
            "store it elsewhere and pass its name (or raise TENURE_PAYLOAD_LIMIT_BYTES)"
        )
    return text


def decode(text: str) -> Any:
    """The value again."""
    return json.loads(text)
