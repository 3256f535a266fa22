"""The engine's routes, one file for each thing. Features bring theirs: `Feature.routers()`."""

from fastapi import APIRouter

from tenure.api.routes import (
    audit,
    charts,
    events,
    findings,
    fleet,
    health,
    holds,
    jobs,
    limits,
    metrics,
    moves,
    worker,
)

PUBLIC: tuple[APIRouter, ...] = (health.router, metrics.router, worker.internal)
"""Nobody has to be a caller: a tick asks for its own token, metrics ask strangers only."""

KNOWN: tuple[APIRouter, ...] = (
    jobs.router, moves.router, events.router, fleet.router, charts.router, findings.router,
    holds.router, limits.router, worker.router, audit.router,
)  # fmt: skip
"""Callers are known, and counted where there is a limit. What is asked most is looked for first."""

__all__ = ["KNOWN", "PUBLIC"]
