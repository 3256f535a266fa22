"""The permission that a route needs, as the type of a parameter."""

from __future__ import annotations

from typing import Annotated, cast

from fastapi import Depends
from fastapi.openapi.models import HTTPBearer
from fastapi.security.base import SecurityBase
from starlette.requests import Request

from tenure.access.caller import Caller, Permission
from tenure.api.kit.identity.credential import has_credential
from tenure.api.kit.identity.identity import Identity
from tenure.api.kit.identity.loopback import comes_from_here
from tenure.core.refusals import Forbidden

ABOUT = (
    "An API key (`tenure keys create`) or an issuer's token. A key may also come as `x-api-key`; "
    "pages of the dashboard use the cookie of their session."
)


def identity_of(request: Request) -> Identity:
    """The identity that `install_identity` added to the app."""
    return cast(Identity, request.app.state.identity)


class Needs(SecurityBase):
    """A FastAPI dependency: the caller, if it has the permission."""

    def __init__(self, permission: Permission, *, site: bool = False) -> None:
        self.model = HTTPBearer(description=ABOUT)
        self.scheme_name = "bearer"
        self.permission = permission
        self.site = site

    async def __call__(self, request: Request) -> Caller:
        """Unauthenticated, Forbidden, or the caller."""
        caller = await identity_of(request).caller_of(request)
        self.check(caller)
        return caller

    def check(self, caller: Caller) -> None:
        """Forbidden if the caller lacks the permission."""
        if not caller.may(self.permission):
            raise Forbidden(f"this needs the permission '{self.permission}'")
        if self.site and not caller.site:
            raise Forbidden("this concerns every tenant; your credential belongs to one")


async def metrics_reader(request: Request) -> Caller | None:
    """Anybody on this machine; from elsewhere a caller with `read` and no single tenant."""
    if comes_from_here(request) and not has_credential(request):
        return None
    return await Needs(Permission.READ, site=True)(request)


async def guard_metrics(request: Request) -> None:
    """The same for a route outside of FastAPI: raises if refused."""
    await metrics_reader(request)


Reader = Annotated[Caller, Depends(Needs(Permission.READ))]
Writer = Annotated[Caller, Depends(Needs(Permission.WRITE))]
Admin = Annotated[Caller, Depends(Needs(Permission.ADMIN))]
SiteReader = Annotated[Caller, Depends(Needs(Permission.READ, site=True))]
SiteAdmin = Annotated[Caller, Depends(Needs(Permission.ADMIN, site=True))]
MetricsReader = Annotated[Caller | None, Depends(metrics_reader)]
