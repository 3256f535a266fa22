"""Callers recognised a moment ago, so that a request does not cost a query each time."""

from __future__ import annotations

import hashlib
import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from tenure.access.caller import Caller
from tenure.api.kit.identity.credential import Credential

MOST = 4_096


@dataclass(frozen=True, slots=True)
class Known:
    """A caller, and how many seconds the credential is good for."""

    caller: Caller
    seconds: float = math.inf


class Remembered:
    """For some seconds, by the hash of the credential: its text is not kept, and no part of it
    decides how long a look takes. Only who was recognised is remembered.
    """

    def __init__(self, seconds: float, elapsed: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._elapsed = elapsed
        self.generation = 0
        self._callers: dict[bytes, tuple[float, Caller]] = {}
        self._lock = threading.Lock()

    def find(self, credential: Credential) -> Caller | None:
        """Who that was."""
        found = self._callers.get(_name(credential))
        return None if found is None or found[0] <= self._elapsed() else found[1]

    def keep(self, credential: Credential, known: Known, since: int) -> None:
        """Until the seconds are over, or the credential's own time; not where all that was known
        has been forgotten since the look began.
        """
        until = self._elapsed() + min(self._seconds, known.seconds)
        with self._lock:
            if since != self.generation:
                return
            while len(self._callers) >= MOST:
                self._callers.pop(next(iter(self._callers)))
            self._callers[_name(credential)] = (until, known.caller)

    def forget(self) -> None:
        """All of them: a key was revoked, a session ended."""
        with self._lock:
            self.generation += 1
            self._callers = {}


def _name(credential: Credential) -> bytes:
    text = f"{credential.how}:{credential.text}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
