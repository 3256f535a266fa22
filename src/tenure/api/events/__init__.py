"""Event streams: many clients, one reader of the database per process, no connection per client."""

from tenure.api.events.hub import Hub

__all__ = ["Hub"]
