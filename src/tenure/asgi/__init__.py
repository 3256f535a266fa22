"""Small ASGI pieces for an app of yours: a worker in its lifespan, a tick, a wait for a job."""

from tenure.asgi.lifespan import WithWorker
from tenure.asgi.tick import TickRoute
from tenure.asgi.wait import WaitRoute

__all__ = ["TickRoute", "WaitRoute", "WithWorker"]
