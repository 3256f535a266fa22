"""Errors of identity: who asks is not known, may not, or names a key that is not there.

The tree of all errors is drawn in `tenure.core.errors`.
"""

from __future__ import annotations

from tenure.core.errors import TenureError


class AccessError(TenureError):
    """Who asks is not known, or may not do this."""

    code = "access_error"


class Unauthenticated(AccessError):
    """No credential came along, or one that is not valid.

    `challenge` says what to send instead.
    """

    code = "unauthenticated"

    def __init__(self, text: str, challenge: str = "Bearer") -> None:
        super().__init__(text)
        self.challenge = challenge


class Forbidden(AccessError):
    """The caller is known, but has no right to do this."""

    code = "forbidden"


class IdentityUnavailable(AccessError):
    """The keys that tokens are checked with cannot be had now."""

    code = "identity_unavailable"
    retryable = True

    def __init__(self) -> None:
        super().__init__("the issuer's keys (TENURE_JWT_JWKS_URL) cannot be fetched; try again")


class ApiKeyNotFound(TenureError):
    """There is no such API key."""

    code = "api_key_not_found"

    def __init__(self, key_id: str) -> None:
        super().__init__(f"there is no API key {key_id}; tenure keys list shows those there are")
