"""The canonical JSON text of a value: sorted keys, no spaces, as few escapes as possible.

Equal payloads must be equal texts, because unique keys compare them. So orjson, if installed, is
used only for values that it writes exactly as the standard library does.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

try:
    import orjson
except ImportError:
    orjson = None  # type: ignore[assignment]

CANONICAL = json.JSONEncoder(
    allow_nan=False, ensure_ascii=False, sort_keys=True, separators=(",", ":")
)

# Below this size making sure takes longer than orjson saves.
WORTH_BYTES = 300

# Every digit as a nought, so that one look finds an exponent behind any of them.
NOUGHTS = bytes.maketrans(b"123456789", b"000000000")


def _make_encoder() -> Callable[[Any, int], Iterable[str]]:
    """The standard library's own encoder in C, which it would make anew for every value."""
    make = getattr(json.encoder, "c_make_encoder", None)
    if make is None:
        return lambda value, level: (CANONICAL.encode(value),)
    text = json.encoder.encode_basestring
    encoder: Callable[[Any, int], Iterable[str]] = make(
        None, CANONICAL.default, text, None, ":", ",", True, False, False
    )
    return encoder


_encoder = _make_encoder()


def by_json(value: Any) -> bytes | None:
    """The text by the standard library; None if it refuses the value."""
    try:
        return "".join(_encoder(value, 0)).encode()
    except Exception:
        return None


def by_orjson(value: Any) -> bytes | None:
    """The same text by orjson, which is faster for large values.

    orjson takes more than JSON has (UUIDs, NaN as null): what does not read back as it was is left
    to the standard library, and so is what may have another form there.
    """
    try:
        raw = orjson.dumps(value, option=ORJSON)
    except orjson.JSONEncodeError:
        return by_json(value)
    if len(raw) < WORTH_BYTES or _differs(raw) or orjson.loads(raw) != value:
        return by_json(value)
    return raw


def _differs(raw: bytes) -> bool:
    """Whether a number may have another form in the standard library: 1e+22 for 1e22, 1e-05 for
    0.00001. A text that looks like one does no harm.
    """
    return b"0e" in raw.translate(NOUGHTS) or b"0.0000" in raw


quickly: Callable[[Any], bytes | None] = by_json
if orjson is not None:
    quickly = by_orjson
    ORJSON = (
        orjson.OPT_SORT_KEYS
        | orjson.OPT_PASSTHROUGH_SUBCLASS
        | orjson.OPT_PASSTHROUGH_DATACLASS
        | orjson.OPT_PASSTHROUGH_DATETIME
    )
