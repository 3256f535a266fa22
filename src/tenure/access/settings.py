"""Settings of identity: TENURE_JWT_*, and how long sessions and links last."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

DAY = 86_400.0
TENANT_PLACE = "{tenantid}"
Names = Annotated[tuple[str, ...], NoDecode]


class IdentitySettings(BaseSettings):
    """Read when the API is created. Without an issuer, bearer tokens are refused."""

    model_config = SettingsConfigDict(env_prefix="TENURE_", extra="ignore")

    jwt_issuer: str = ""
    jwt_audience: Names = ()
    jwt_jwks_url: str = ""
    jwt_tenants: Names = ()
    jwt_site_tenants: Names = ()
    jwt_tenant_claim: str = Field(default="tid", max_length=100)
    jwt_owner_claim: str = Field(default="oid", min_length=1, max_length=100)
    jwt_permission_claims: Names = ("scp", "roles")
    jwt_permission_prefix: str = Field(default="tenure.", max_length=100)
    jwt_leeway_seconds: float = Field(default=60.0, ge=0, le=300)
    jwt_keys_seconds: float = Field(default=3_600.0, ge=10, le=DAY)
    identity_cache_seconds: float = Field(default=5.0, ge=0, le=60)
    session_seconds: float = Field(default=43_200.0, ge=60, le=30 * DAY)
    login_link_seconds: float = Field(default=600.0, ge=10, le=DAY)

    @field_validator(
        "jwt_audience", "jwt_tenants", "jwt_site_tenants", "jwt_permission_claims", mode="before"
    )
    @classmethod
    def _split(cls, value: object) -> object:
        """A comma-separated list."""
        if isinstance(value, str):
            return tuple(part.strip() for part in value.split(",") if part.strip())
        return value

    @field_validator("jwt_jwks_url")
    @classmethod
    def _safe(cls, value: str) -> str:
        """TLS is required: whoever can change the keys in transit can sign for anybody."""
        parts = urlsplit(value)
        local = parts.scheme == "http" and parts.hostname in ("127.0.0.1", "::1", "localhost")
        if value and not (parts.hostname and (parts.scheme == "https" or local)):
            raise ValueError("must be https://..., or http:// on loopback")
        return value

    @model_validator(mode="after")
    def _whole(self) -> IdentitySettings:
        given = {"JWT_ISSUER": self.jwt_issuer, "JWT_AUDIENCE": self.jwt_audience,
                 "JWT_JWKS_URL": self.jwt_jwks_url}  # fmt: skip
        missing = [f"TENURE_{name}" for name, value in given.items() if not value]
        if missing and len(missing) < len(given):
            raise ValueError(
                f"bearer tokens need an issuer, an audience and a JWKS address together; "
                f"not set: {', '.join(missing)}"
            )
        self._check_tenants()
        return self

    def _check_tenants(self) -> None:
        # A multi-tenant issuer signs for every directory of the world.
        if TENANT_PLACE in self.jwt_issuer and not self.jwt_tenants:
            raise ValueError(
                f"TENURE_JWT_ISSUER holds {TENANT_PLACE}: every directory could sign tokens for "
                "us; name those that may in TENURE_JWT_TENANTS"
            )
        if not self.jwt_tenant_claim and (self.jwt_tenants or self.jwt_site_tenants):
            raise ValueError(
                "TENURE_JWT_TENANTS and TENURE_JWT_SITE_TENANTS need TENURE_JWT_TENANT_CLAIM"
            )
        if outside := set(self.jwt_site_tenants) - set(self.jwt_tenants):
            raise ValueError(
                f"TENURE_JWT_SITE_TENANTS names {sorted(outside)[0]!r}, TENURE_JWT_TENANTS does not"
            )

    @property
    def takes_tokens(self) -> bool:
        """Whether bearer tokens are configured."""
        return bool(self.jwt_issuer)
