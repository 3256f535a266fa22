"""Who sends a request, and what they may do: API keys, bearer tokens, sessions.

A route names what it needs by a parameter: `caller: Reader`, `caller: Writer`, `caller: Admin`; or
`SiteReader`, `SiteAdmin` for what belongs to no tenant (queues, workers, schedules, locks). It
reaches jobs by `caller.jobs(engine)`.
"""

from tenure.access.caller import Caller, Permission
from tenure.access.links import login_link
from tenure.access.settings import IdentitySettings
from tenure.api.kit.identity.binding import check_binding
from tenure.api.kit.identity.install import install_identity
from tenure.api.kit.identity.lasting import while_known
from tenure.api.kit.identity.needs import (
    Admin,
    MetricsReader,
    Reader,
    SiteAdmin,
    SiteReader,
    Writer,
    guard_metrics,
    identity_of,
)

__all__ = [
    "Admin",
    "Caller",
    "IdentitySettings",
    "MetricsReader",
    "Permission",
    "Reader",
    "SiteAdmin",
    "SiteReader",
    "Writer",
    "check_binding",
    "guard_metrics",
    "identity_of",
    "install_identity",
    "login_link",
    "while_known",
]
