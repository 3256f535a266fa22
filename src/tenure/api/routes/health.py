"""`/v1/health/*`: liveness and readiness, without authentication."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import BaseModel, Field

from tenure.api.kit.errors import NotReady
from tenure.api.kit.service import Engine
from tenure.app import Tenure
from tenure.core.errors import StoreError

router = APIRouter(prefix="/v1/health", tags=["health"])
OK = "ok"
AWAY = "unavailable"


class Health(BaseModel):
    """What was checked."""

    status: str = Field(examples=[OK])
    checks: dict[str, str] = Field(default_factory=dict, examples=[{"database": OK}])


@router.get("/live", operation_id="getLive", summary="Is the process alive?")
# Async, so that it answers even when all threads wait for the database.
async def live() -> Health:
    """The process is alive. Nothing else is checked."""
    return Health(status=OK)


@router.get("/ready", operation_id="getReady", summary="Can it do its work?")
def ready(engine: Engine) -> Health:
    """Check the database, and with TENURE_HEALTH_REQUIRE_RABBITMQ the broker of wake-ups."""
    checks = {"database": _database(engine)}
    if engine.settings.health_require_rabbitmq:
        checks["queue"] = OK if engine.store.wakeups.healthy else AWAY
    if set(checks.values()) != {OK}:
        raise NotReady(checks)
    return Health(status=OK, checks=checks)


def _database(engine: Tenure) -> str:
    try:
        engine.store.now()
    except StoreError as error:
        return error.code.replace("_", "-")
    return OK
