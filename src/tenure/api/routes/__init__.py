"""The routes, one file for each thing. Each reads the request, calls one function, shapes it."""

from fastapi import APIRouter

from tenure.api.routes import health

ROUTERS: tuple[APIRouter, ...] = (health.router,)

__all__ = ["ROUTERS"]
