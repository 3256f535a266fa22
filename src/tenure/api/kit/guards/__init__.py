"""Middleware that every request passes: plain ASGI, no framework."""

from tenure.api.kit.guards.bodies import BoundedBody
from tenure.api.kit.guards.head_requests import HeadRequests
from tenure.api.kit.guards.request_ids import RequestIds
from tenure.api.kit.guards.unexpected_errors import UnexpectedErrors

__all__ = ["BoundedBody", "HeadRequests", "RequestIds", "UnexpectedErrors"]
