"""`/v1/health/*`: whether the process lives, and whether it can do its work. Nobody is asked who
they are.
"""

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
    """What was looked at."""

    status: str = Field(examples=[OK])
    checks: dict[str, str] = Field(default_factory=dict, examples=[{"database": OK}])


@router.get("/live", operation_id="getLive", summary="Is the process alive?")
async def live() -> Health:
    """Asks nothing of anybody else."""
    return Health(status=OK)


@router.get("/ready", operation_id="getReady", summary="Can it do its work?")
def ready(engine: Engine) -> Health:
    """The database; and the broker of wake-ups, where BPC_HEALTH_REQUIRE_QUEUE says so."""
    checks = {"database": _database(engine)}
    if engine.settings.health_require_queue:
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
