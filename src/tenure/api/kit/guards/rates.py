"""A rate limit per caller and process: a token bucket."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable

from fastapi import Request

from tenure.api.kit.errors import TooManyRequests
from tenure.api.kit.identity import Reader

# The least recently seen are forgotten; a forgotten caller has a full bucket again.
MOST_CALLERS = 10_000
MINUTE = 60.0


class Rates:
    """So many requests a minute; an idle caller may send them all at once."""

    def __init__(self, per_minute: int, elapsed: Callable[[], float] = time.monotonic) -> None:
        self._most = per_minute
        self._elapsed = elapsed
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, name: str) -> None:
        """Count one request; TooManyRequests if the bucket is empty."""
        now = self._elapsed()
        # No lock: all requests are counted on the one event loop of the process.
        tokens, at = self._buckets.pop(name, (float(self._most), now))
        tokens = min(self._most, tokens + (now - at) * self._most / MINUTE)
        self._buckets[name] = (max(0.0, tokens - 1) if tokens >= 1 else tokens, now)
        while len(self._buckets) > MOST_CALLERS:
            self._buckets.popitem(last=False)
        if tokens < 1:
            raise TooManyRequests(self._headers(math.ceil((1 - tokens) * MINUTE / self._most)))

    def _headers(self, seconds: int) -> dict[str, str]:
        return {
            "retry-after": str(seconds),
            "ratelimit": f'"caller";r=0;t={seconds}',
            "ratelimit-policy": f'"caller";q={self._most};w={int(MINUTE)}',
        }


async def limited(request: Request, caller: Reader) -> None:
    """A dependency of every route that knows its caller."""
    rates: Rates = request.app.state.rates
    rates.take(f"{caller.name}\0{caller.tenant}\0{caller.owner}")
