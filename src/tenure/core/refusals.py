"""Errors of identity: the caller is unknown, lacks a permission, or names an unknown key.

`tenure.core.errors` shows the tree of all errors.
"""

from __future__ import annotations

from tenure.core.errors import TenureError


class AccessError(TenureError):
    """The caller is unknown or not allowed to do this."""

    code = "access_error"


class Unauthenticated(AccessError):
    """The credential is missing or invalid.

    `challenge` is the value of the WWW-Authenticate header.
    """

    code = "unauthenticated"

    def __init__(self, text: str, challenge: str = "Bearer") -> None:
        super().__init__(text)
        self.challenge = challenge


class Forbidden(AccessError):
    """The caller lacks the permission to do this."""

    code = "forbidden"


class IdentityUnavailable(AccessError):
    """The issuer's signing keys cannot be fetched."""

    code = "identity_unavailable"
    retryable = True

    def __init__(self) -> None:
        super().__init__(
            "cannot fetch the issuer's signing keys from TENURE_JWT_JWKS_URL; try again"
        )


class ApiKeyNotFound(TenureError):
    """The API key does not exist."""

    code = "api_key_not_found"

    def __init__(self, key_id: str) -> None:
        super().__init__(f"there is no API key {key_id}; list them with: tenure keys list")
