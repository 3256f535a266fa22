"""The routes, one file for each thing. Each reads the request, calls one function, shapes it."""

from fastapi import APIRouter

from tenure.api.routes import health, jobs, moves

ROUTERS: tuple[APIRouter, ...] = (health.router, moves.router, jobs.router)

__all__ = ["ROUTERS"]
