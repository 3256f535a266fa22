"""`/api/limits` and `/api/tenants`: how much may run at a time, and whose jobs come first."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import ConfigDict, Field, field_validator

from tenure.api.kit.answers import may
from tenure.api.kit.errors import LimitNotFound
from tenure.api.kit.identity import SiteAdmin, SiteReader
from tenure.api.kit.service import Engine
from tenure.api.kit.shapes.charts import (
    KindLimitShape,
    LimitsShape,
    hold_shape,
    kind_limit_shape,
)
from tenure.api.kit.shapes.shape import Input, Shape, a_number
from tenure.app import Tenure
from tenure.core.rules.limits import Limit
from tenure.operations.limits import KindLimit
from tenure.operations.tenants import NO_NAME
from tenure.stores.contract.parts import TenantLoad

router = APIRouter(prefix="/api", tags=["limits"])
KindPath = Annotated[str, Path(examples=["mail.send"])]
TenantPath = Annotated[str, Path(examples=["acme"], description="`-` is the empty tenant.")]
EachKey = Annotated[bool, Query(alias="eachKey")]
OneKey = Annotated[str | None, Query(min_length=1, description="One `limit_key` within the kind.")]


class LimitInput(Input):
    """Jobs at a time, starts per period, or both."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"rate": 50, "per": 60}]})

    running: int | None = Field(default=None, ge=1)
    rate: float | None = Field(default=None, gt=0)
    per: float = Field(default=1.0, gt=0)
    burst: int | None = Field(default=None, ge=1)
    each_key: bool = Field(default=False, strict=True)

    _numbers = field_validator("running", "rate", "per", "burst", mode="before")(a_number)


class TenantInput(Input):
    """A weight and a cap; null removes, what is left out stays."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"weight": 2, "cap": 4}]})

    weight: float | None = Field(default=None, gt=0)
    cap: int | None = Field(default=None, ge=1)

    _numbers = field_validator("weight", "cap", mode="before")(a_number)


class TenantShape(Shape):
    """A tenant's share, and its open jobs."""

    tenant: str
    weight: float
    cap: int | None
    queued: int
    held: int = Field(description="Of these: waiting for a limit or for other jobs.")
    running: int
    at_least: bool = Field(description="Not all jobs were counted.")


class TenantsShape(Shape):
    """Tenants with open jobs, a weight or a cap; those with the most jobs first."""

    items: list[TenantShape]


@router.get("/limits", operation_id="listLimits")
def list_limits(caller: SiteReader, engine: Engine) -> LimitsShape:
    """List the limits of kinds and keys, as handlers declare them and operators have set them, and
    the holds in force.
    """
    return LimitsShape(
        items=[kind_limit_shape(one) for one in engine.limits.all()],
        holds=[hold_shape(one) for one in engine.limits.holds()],
    )


@router.put("/limits/{kind:path}", operation_id="setLimit")
def set_limit(
    kind: KindPath, asked: LimitInput, caller: SiteAdmin, engine: Engine, key: OneKey = None
) -> KindLimitShape:
    """Limit a kind, each of its keys, or one key. It replaces the handler's own limit within 15
    seconds; a limit of one key within one second.
    """
    limit = Limit(running=asked.running, rate=asked.rate, per=asked.per, burst=asked.burst)
    engine.limits.set(kind, limit, key=key, each_key=asked.each_key)
    facts = asked.model_dump(mode="json", exclude_none=True)
    engine.operator.audit.note(caller.name, "limit.set", kind, key=key, **facts)
    return kind_limit_shape(KindLimit(kind, limit, asked.each_key, by_operator=True, key=key))


@router.delete(
    "/limits/{kind:path}", operation_id="removeLimit", status_code=204, responses=may(404)
)
def remove_limit(
    kind: KindPath,
    caller: SiteAdmin,
    engine: Engine,
    each_key: EachKey = False,
    key: OneKey = None,
) -> None:
    """Remove an operator's limit. The handler's own limit applies again."""
    if not engine.limits.forget(kind, key=key, each_key=each_key):
        raise LimitNotFound(kind)
    engine.operator.audit.note(caller.name, "limit.forgotten", kind, each_key=each_key, key=key)


@router.get("/tenants", operation_id="listTenants")
def list_tenants(caller: SiteReader, engine: Engine) -> TenantsShape:
    """List tenants: weight, cap, open jobs."""
    return TenantsShape(items=_tenants(engine))


@router.put("/tenants/{tenant:path}", operation_id="setTenant")
def set_tenant(
    tenant: TenantPath, asked: TenantInput, caller: SiteAdmin, engine: Engine
) -> TenantShape:
    """Set the weight and the cap of a tenant. Workers see it within 15 seconds."""
    name = "" if tenant == NO_NAME else tenant
    if "weight" in asked.model_fields_set:
        if asked.weight is None:
            engine.tenants.forget(name)
        else:
            engine.tenants.weigh(name, asked.weight)
        engine.operator.audit.note(caller.name, "tenant.weight", name, weight=asked.weight)
    if "cap" in asked.model_fields_set:
        if asked.cap is None:
            engine.tenants.uncap(name)
        else:
            engine.tenants.cap(name, asked.cap)
        engine.operator.audit.note(caller.name, "tenant.cap", name, cap=asked.cap)
    return next(one for one in _tenants(engine, name) if one.tenant == name)


def _tenants(engine: Tenure, *named: str) -> list[TenantShape]:
    """Those with open jobs, those with a weight or a cap, and these."""
    weights, caps = engine.tenants.weights(), engine.tenants.caps()
    loads = {one.tenant: one for one in engine.store.queues.tenants()}
    for tenant in (*weights, *caps, *named):
        loads.setdefault(tenant, TenantLoad(tenant=tenant))
    return [
        _tenant(load, weights.get(load.tenant, 1.0), caps.get(load.tenant))
        for load in loads.values()
    ]


def _tenant(load: TenantLoad, weight: float, cap: int | None) -> TenantShape:
    return TenantShape(
        tenant=load.tenant,
        weight=weight,
        cap=cap,
        queued=load.queued,
        held=load.held,
        running=load.running,
        at_least=load.at_least,
    )
