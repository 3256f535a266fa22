"""Refuse to listen on other addresses than loopback while no caller can be recognised."""

from __future__ import annotations

from tenure.access.keys import Keys
from tenure.access.settings import IdentitySettings
from tenure.api.kit.identity.loopback import is_loopback
from tenure.app import Tenure
from tenure.core.errors import UsageError


class BindingRefused(UsageError):
    """The service would be reachable from other machines without any credential configured."""

    code = "binding_refused"

    def __init__(self, host: str) -> None:
        super().__init__(
            f"{host or 'every address'} is reachable from other machines, but no identity is "
            "configured: create a key (tenure keys create NAME --permission read), or set "
            "TENURE_JWT_ISSUER, TENURE_JWT_AUDIENCE and TENURE_JWT_JWKS_URL, or bind to 127.0.0.1"
        )


def check_binding(host: str, engine: Tenure, settings: IdentitySettings | None = None) -> None:
    """BindingRefused if the address is not loopback and there is neither a key nor an issuer."""
    if is_loopback(host) or (settings or IdentitySettings()).takes_tokens:
        return
    if not Keys(engine).any():
        raise BindingRefused(host)
