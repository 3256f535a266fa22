"""What the routes of one API share: the engine, its settings, this process's worker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from tenure.api.replica import Replica
from tenure.api.settings import ApiSettings
from tenure.engine import Tenure


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """One for each API; it lives as long as the API does."""

    engine: Tenure
    settings: ApiSettings
    replica: Replica


async def service_of(request: Request) -> Service:
    """Of this request's API. Async: a plain function would take a thread for nothing."""
    found: Service = request.app.state.service
    return found


async def engine_of(request: Request) -> Tenure:
    """Likewise."""
    service: Service = request.app.state.service
    return service.engine


Serving = Annotated[Service, Depends(service_of)]
Engine = Annotated[Tenure, Depends(engine_of)]
