"""Bearer tokens: signed by the issuer with RS256, for our audience, not expired."""

from __future__ import annotations

import time
from typing import Any

import jwt

from tenure.access.caller import Caller, How, Permission
from tenure.access.settings import TENANT_PLACE, IdentitySettings
from tenure.api.kit.identity.credential import INVALID
from tenure.api.kit.identity.jwks import KeySet
from tenure.api.kit.identity.remembered import Known
from tenure.core.errors import OptionError
from tenure.core.refusals import Unauthenticated
from tenure.jobs.options import check_name

ALGORITHM = "RS256"
REQUIRED = ("exp", "iss", "aud")
NAME_LENGTH = 100
STRANGE = (jwt.InvalidTokenError, OptionError, RecursionError, OverflowError)


class Tokens:
    """From a token to its caller. The token chooses neither the algorithm nor the key's source."""

    def __init__(self, settings: IdentitySettings, keys: KeySet) -> None:
        self._settings = settings
        self._keys = keys

    def find(self, text: str) -> Known:
        """The caller of a token; Unauthenticated with the reason if it is refused."""
        try:
            claims = self._verified(text)
            return Known(self._caller(claims), float(claims["exp"]) - time.time())
        except STRANGE as error:
            raise Unauthenticated(f"the token is refused: {error}", INVALID) from None

    def _verified(self, text: str) -> dict[str, Any]:
        header = jwt.get_unverified_header(text)
        kid = header.get("kid")
        # Checked before any key is fetched: `none`, and HMAC with a public key, get no further.
        if header.get("alg") != ALGORITHM or "crit" in header or not isinstance(kid, str):
            raise jwt.InvalidTokenError(f"it must be signed by {ALGORITHM} and name its key (kid)")
        key = self._keys.find(kid)
        if key is None:
            raise jwt.InvalidTokenError("the issuer has no such key (kid)")
        claims: dict[str, Any] = jwt.decode(
            text,
            key,
            algorithms=[ALGORITHM],
            audience=list(self._settings.jwt_audience),
            leeway=self._settings.jwt_leeway_seconds,
            options={"require": list(REQUIRED)},
        )
        return claims

    def _caller(self, claims: dict[str, Any]) -> Caller:
        settings = self._settings
        tenant = self._tenant(claims)
        if claims["iss"] != settings.jwt_issuer.replace(TENANT_PLACE, tenant):
            raise jwt.InvalidIssuerError("it comes from another issuer (iss)")
        owner = _text(claims, settings.jwt_owner_claim)
        check_name("owner", owner)
        return Caller(
            name=f"user:{owner}"[:NAME_LENGTH].strip(),
            how=How.TOKEN,
            tenant=tenant,
            owner=owner,
            permissions=self._permissions(claims),
            site=not settings.jwt_tenant_claim or tenant in settings.jwt_site_tenants,
        )

    def _tenant(self, claims: dict[str, Any]) -> str:
        settings = self._settings
        if not settings.jwt_tenant_claim:
            return ""
        tenant = _text(claims, settings.jwt_tenant_claim)
        check_name("tenant", tenant)
        if settings.jwt_tenants and tenant not in settings.jwt_tenants:
            raise jwt.InvalidTokenError(f"its tenant ({settings.jwt_tenant_claim}) is not allowed")
        return tenant

    def _permissions(self, claims: dict[str, Any]) -> frozenset[Permission]:
        words = {
            word for name in self._settings.jwt_permission_claims for word in _words(claims, name)
        }
        prefix = self._settings.jwt_permission_prefix
        given = [one.held for one in Permission if f"{prefix}{one.value}" in words]
        return frozenset().union(*given)


def _text(claims: dict[str, Any], name: str) -> str:
    """A required claim."""
    value = claims.get(name)
    if not isinstance(value, str) or not value:
        raise jwt.MissingRequiredClaimError(name)
    return value


def _words(claims: dict[str, Any], name: str) -> list[str]:
    """A claim with words: a list, or one text with spaces."""
    value = claims.get(name)
    if isinstance(value, str):
        return value.split()
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []
