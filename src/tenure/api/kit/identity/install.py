"""`install_identity`: give an app callers and sessions."""

from __future__ import annotations

from fastapi import FastAPI

from tenure.access.settings import IdentitySettings
from tenure.api.kit.identity.identity import Identity
from tenure.api.kit.identity.routes import router
from tenure.app import Tenure
from tenure.core.timing.clock import Clock


def install_identity(
    api: FastAPI,
    engine: Tenure,
    settings: IdentitySettings | None = None,
    clock: Clock | None = None,
) -> Identity:
    """Add what `Reader`, `Writer` and `Admin` need, and the routes /login, /logout and /session."""
    identity = Identity(engine, settings or IdentitySettings(), clock)
    api.state.identity = identity
    api.include_router(router)
    return identity
