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

    model_config = SettingsConfigDict(
        env_prefix="TENURE_", extra="ignore", use_attribute_docstrings=True
    )

    jwt_issuer: str = ""
    """Issuer of bearer tokens; must equal their `iss`. `{tenantid}` stands for the tenant of the
    token and needs TENURE_JWT_TENANTS.
    """
    jwt_audience: Names = ()
    """Accepted audiences; a token must have one of them in `aud`."""
    jwt_jwks_url: str = ""
    """URL of the issuer's signing keys."""
    jwt_tenants: Names = ()
    """Tenants whose tokens are accepted; empty: all tenants of the issuer."""
    jwt_site_tenants: Names = ()
    """Tenants whose readers see queues, workers and schedules, and whose admins reach every
    tenant.
    """
    jwt_tenant_claim: str = Field(default="tid", max_length=100)
    """Claim with the tenant; empty: all tokens belong to the default tenant, and their callers see
    the whole site.
    """
    jwt_owner_claim: str = Field(default="oid", min_length=1, max_length=100)
    """Claim with the owner; use `sub` for most issuers other than Entra ID."""
    jwt_permission_claims: Names = ("scp", "roles")
    """Claims with permissions: lists, or words separated by spaces."""
    jwt_permission_prefix: str = Field(default="tenure.", max_length=100)
    """Prefix of `read`, `write` and `admin` in those claims."""
    jwt_leeway_seconds: float = Field(default=60.0, ge=0, le=300)
    """Accepted clock difference to the issuer."""
    jwt_keys_seconds: float = Field(default=3_600.0, ge=10, le=DAY)
    """How long fetched signing keys are used; a token signed by an unknown key causes an earlier
    fetch.
    """
    identity_cache_seconds: float = Field(default=5.0, ge=0, le=60)
    """How long a caller is cached. A key revoked in another process is rejected after this time at
    the latest.
    """
    session_seconds: float = Field(default=43_200.0, ge=60, le=30 * DAY)
    """Lifetime of a dashboard session."""
    login_link_seconds: float = Field(default=600.0, ge=10, le=DAY)
    """Lifetime of a single-use login link."""

    @field_validator(
        "jwt_audience", "jwt_tenants", "jwt_site_tenants", "jwt_permission_claims", mode="before"
    )
    @classmethod
    def _split(cls, value: object) -> object:
        """Parse a comma-separated list."""
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
                f"bearer tokens need an issuer, an audience and a JWKS URL; "
                f"not set: {', '.join(missing)}"
            )
        self._check_tenants()
        return self

    def _check_tenants(self) -> None:
        # A multi-tenant issuer signs for every directory of the world.
        if TENANT_PLACE in self.jwt_issuer and not self.jwt_tenants:
            raise ValueError(
                f"TENURE_JWT_ISSUER contains {TENANT_PLACE}, which accepts tokens of every "
                "directory; list the allowed ones in TENURE_JWT_TENANTS"
            )
        if not self.jwt_tenant_claim and (self.jwt_tenants or self.jwt_site_tenants):
            raise ValueError(
                "TENURE_JWT_TENANTS and TENURE_JWT_SITE_TENANTS need TENURE_JWT_TENANT_CLAIM"
            )
        if outside := set(self.jwt_site_tenants) - set(self.jwt_tenants):
            raise ValueError(
                f"TENURE_JWT_SITE_TENANTS has {sorted(outside)[0]!r}, TENURE_JWT_TENANTS has not"
            )

    @property
    def takes_tokens(self) -> bool:
        """Whether bearer tokens are configured."""
        return bool(self.jwt_issuer)
