"""`/api/audit`: actions on many jobs, and on what belongs to no tenant."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from tenure.api.kit.cursors import seal, unseal
from tenure.api.kit.identity import SiteAdmin
from tenure.api.kit.service import Engine
from tenure.api.kit.shapes.audit import AuditPage, audit_line
from tenure.core.page import MAX_PAGE

router = APIRouter(prefix="/api", tags=["audit"])
QUESTION = "audit"
PageSize = Annotated[int, Query(alias="pageSize", ge=1, le=MAX_PAGE)]
After = Annotated[str | None, Query(max_length=500, description="`next` of the previous page.")]


@router.get("/audit", operation_id="listAudit")
def list_audit(
    caller: SiteAdmin, engine: Engine, page_size: PageSize = 50, after: After = None
) -> AuditPage:
    """List actions, newest first. Actions on a single job are in its history."""
    page = engine.operator.audit.page(limit=page_size, after=unseal(after, QUESTION))
    return AuditPage(items=[audit_line(line) for line in page.rows], next=seal(page.next, QUESTION))
