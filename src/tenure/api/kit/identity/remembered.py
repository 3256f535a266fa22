"""Callers recognised a moment ago, so that a request does not cost a query each time."""

from __future__ import annotations

import hashlib
import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from cachetools import TLRUCache

from tenure.access.caller import Caller
from tenure.api.kit.identity.credential import Credential

# A bound for memory only: a caller that was forgotten costs one query.
MOST = 4_096


@dataclass(frozen=True, slots=True)
class Known:
    """A caller, and in how many seconds the credential expires."""

    caller: Caller
    seconds: float = math.inf


class Remembered:
    """For some seconds, by the hash of the credential: its text is not kept, and no part of it
    decides how long a lookup takes. Only recognised callers are remembered, never refusals.
    """

    def __init__(self, seconds: float, elapsed: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self.generation = 0
        self._known: TLRUCache[bytes, Known] = TLRUCache(MOST, self._expiry, elapsed)
        # A lookup changes the cache too: it notes what was used last.
        self._lock = threading.Lock()

    def find(self, credential: Credential) -> Caller | None:
        """The caller with this credential, if seen a moment ago."""
        name = _name(credential)
        with self._lock:
            known = self._known.get(name)
        return None if known is None else known.caller

    def keep(self, credential: Credential, known: Known, since: int) -> None:
        """Keep it for the set time, or until the credential expires if that is sooner.

        `since` is the generation at which the lookup began. If everything was forgotten since, the
        caller may have been read before a revocation: it is not kept.
        """
        name = _name(credential)
        with self._lock:
            if since == self.generation:
                self._known[name] = known

    def forget(self) -> None:
        """Forget everybody: a key was revoked, or a session ended."""
        with self._lock:
            self.generation += 1
            self._known.clear()

    def _expiry(self, _: bytes, known: Known, now: float) -> float:
        return now + min(self._seconds, known.seconds)


def _name(credential: Credential) -> bytes:
    text = f"{credential.how}:{credential.text}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
