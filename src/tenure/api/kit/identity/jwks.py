"""The public keys of a token issuer: fetched when needed, and again for an unknown key."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import httpx
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from jwt.algorithms import RSAAlgorithm
from jwt.exceptions import InvalidKeyError

from tenure.core.refusals import IdentityUnavailable
from tenure.core.signals import Signals

FETCH_SECONDS = 5.0
LARGEST_BYTES = 1024 * 1024
# An attacker can invent key names; the issuer must not be asked for each of them.
AGAIN_SECONDS = 60.0
AFTER_FAILURE_SECONDS = 5.0
LAST_GOOD_SECONDS = 86_400.0
SMALLEST_BITS = 2_048


class KeySet:
    """Keys by `kid`. However many tokens name unknown keys, the issuer is asked once a minute.

    While the issuer cannot be reached, the last keys are used for a day.
    """

    def __init__(
        self,
        url: str,
        seconds: float,
        signals: Signals,
        elapsed: Callable[[], float] = time.monotonic,
    ) -> None:
        self._url = url
        self._seconds = seconds
        self._signals = signals
        self._elapsed = elapsed
        self._keys: dict[str, RSAPublicKey] = {}
        self._fetched = self._next_try = float("-inf")
        self._lock = threading.Lock()

    def find(self, kid: str) -> RSAPublicKey | None:
        """The key of this name, or None; IdentityUnavailable if no keys could be fetched."""
        # One thread renews expired keys; the others go on with the old ones, unless there are none.
        if self._age() > self._seconds and self._lock.acquire(blocking=not self._keys):
            self._refresh_and_release()
        # An unknown key: the issuer may have rotated its keys, so here all wait for the answer.
        if kid not in self._keys and self._lock.acquire():
            self._refresh_and_release()
        if not self._keys or self._age() > LAST_GOOD_SECONDS:
            raise IdentityUnavailable()
        return self._keys.get(kid)

    def _age(self) -> float:
        return self._elapsed() - self._fetched

    def _refresh_and_release(self) -> None:
        """Fetch once for all threads that wait: the others find that it was tried just now."""
        try:
            if self._elapsed() >= self._next_try:
                self._refresh()
        finally:
            self._lock.release()

    def _refresh(self) -> None:
        try:
            keys = usable(fetch(self._url))
        except (httpx.HTTPError, ValueError) as error:
            self._next_try = self._elapsed() + AFTER_FAILURE_SECONDS
            self._signals.emit("jwks.failed", url=self._url, error=str(error))
            return
        self._keys, self._fetched = keys, self._elapsed()
        self._next_try = self._fetched + AGAIN_SECONDS
        self._signals.emit("jwks.fetched", url=self._url, keys=len(keys))


def fetch(url: str) -> Any:
    """Fetch the key document: no redirects, a bounded size."""
    body = b""
    with httpx.stream("GET", url, timeout=FETCH_SECONDS, follow_redirects=False) as answer:
        if answer.status_code != httpx.codes.OK:
            raise ValueError(f"answered {answer.status_code}")
        for part in answer.iter_bytes():
            body += part
            if len(body) > LARGEST_BYTES:
                raise ValueError(f"is larger than {LARGEST_BYTES} bytes")
    return httpx.Response(httpx.codes.OK, content=body).json()


def usable(document: Any) -> dict[str, RSAPublicKey]:
    """The RSA signing keys of at least 2,048 bits, by name."""
    listed = document.get("keys") if isinstance(document, dict) else None
    if not isinstance(listed, list):
        raise ValueError("holds no list of keys")
    found = {one["kid"]: key for one in listed if (key := _key(one)) is not None}
    if not found:
        raise ValueError("holds no RSA key that signs by RS256")
    return found


def _key(one: Any) -> RSAPublicKey | None:
    if not isinstance(one, dict) or not isinstance(one.get("kid"), str):
        return None
    if one.get("kty") != "RSA" or one.get("use", "sig") != "sig" or "d" in one:
        return None
    if one.get("alg", "RS256") != "RS256":
        return None
    try:
        key = RSAAlgorithm.from_jwk(one)
    except (InvalidKeyError, ValueError, TypeError):
        return None
    return key if isinstance(key, RSAPublicKey) and key.key_size >= SMALLEST_BITS else None
