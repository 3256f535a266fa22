"""ASGI parts for your own app: a worker in its lifespan, a tick route, a route that waits."""

from tenure.asgi.lifespan import WithWorker
from tenure.asgi.tick import TickRoute
from tenure.asgi.wait import WaitRoute

__all__ = ["TickRoute", "WaitRoute", "WithWorker"]
