"""The Range header of one part: which bytes of a file a client asks for."""

from __future__ import annotations

import re

from tenure.files.errors import RangeNotSatisfiable

ONE_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")


def requested_range(header: str | None, size: int) -> tuple[int, int] | None:
    """Start and end (not included); None for the whole file.

    A header that is not understood, or asks for several ranges, is ignored as RFC 9110 allows.
    """
    match = ONE_RANGE.fullmatch(header.replace(" ", "").lower()) if header else None
    if match is None or not (match[1] or match[2]):
        return None
    if not match[1]:
        start, end = max(0, size - int(match[2])), size
        if int(match[2]) == 0:
            raise RangeNotSatisfiable(size)
    else:
        start, end = int(match[1]), min(size, int(match[2]) + 1) if match[2] else size
    if match[1] and match[2] and int(match[2]) < int(match[1]):
        return None
    if start >= size:
        raise RangeNotSatisfiable(size)
    return start, end
