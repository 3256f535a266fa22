"""Who may do what: callers, permissions, API keys, sessions, single-use links. No HTTP."""

from tenure.access.caller import Caller, Permission
from tenure.access.keys import ApiKey, Keys
from tenure.access.links import login_link
from tenure.access.settings import IdentitySettings

__all__ = ["ApiKey", "Caller", "IdentitySettings", "Keys", "Permission", "login_link"]
