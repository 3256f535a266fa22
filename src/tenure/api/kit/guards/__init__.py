"""Middleware that every request passes: plain ASGI, no framework."""

from tenure.api.kit.guards.bodies import BoundedBody
from tenure.api.kit.guards.failures import Unbroken
from tenure.api.kit.guards.heads import Headed
from tenure.api.kit.guards.naming import Named

__all__ = ["BoundedBody", "Headed", "Named", "Unbroken"]
