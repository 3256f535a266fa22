"""The routes, one file for each thing. Each reads the request, calls one function, shapes it."""

from fastapi import APIRouter

from tenure.api.routes import events, health, jobs, moves

ROUTERS: tuple[APIRouter, ...] = (health.router, moves.router, jobs.router, events.router)

__all__ = ["ROUTERS"]
