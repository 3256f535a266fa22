"""What every request passes before a route sees it: plain ASGI, no framework."""

from tenure.api.guards.bodies import BoundedBody
from tenure.api.guards.failures import Unbroken
from tenure.api.guards.heads import Headed
from tenure.api.guards.naming import Named

__all__ = ["BoundedBody", "Headed", "Named", "Unbroken"]
