"""The routes, one file for each thing. Each reads the request, calls one function, shapes it."""

from fastapi import APIRouter

from tenure.api.routes import audit, events, fleet, health, jobs, moves, schedules, worker

PUBLIC: tuple[APIRouter, ...] = (health.router, worker.internal)
"""Nobody is asked who they are; a tick asks for its own token."""

KNOWN: tuple[APIRouter, ...] = (
    jobs.router, moves.router, events.router, fleet.router, schedules.router, worker.router,
    audit.router,
)  # fmt: skip
"""Callers are known, and counted where there is a limit. What is asked most is looked for first."""

__all__ = ["KNOWN", "PUBLIC"]
