"""`/api/audit`: actions on many jobs, and on what belongs to no tenant."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from tenure.api.kit.cursors import seal, unseal
from tenure.api.kit.identity import SiteAdmin
from tenure.api.kit.service import Engine
from tenure.api.kit.shapes.audit import AuditPage, audit_line
from tenure.api.kit.shapes.shape import Input
from tenure.api.kit.shapes.words import PLAIN
from tenure.core.page import MAX_PAGE
from tenure.operations.audit import AuditFilter

router = APIRouter(prefix="/api", tags=["audit"])


class AuditInput(Input):
    """Which actions to list."""

    actor: str | None = Field(default=None, max_length=255, pattern=PLAIN)
    action: str | None = Field(
        default=None, max_length=100, pattern=PLAIN, description="Its beginning, such as `jobs.`."
    )
    target: str | None = Field(
        default=None, max_length=255, pattern=PLAIN, description="A part of it."
    )
    page_size: int = Field(default=50, ge=1, le=MAX_PAGE)
    after: str | None = Field(
        default=None, max_length=500, description="`next` of the previous page."
    )

    def question(self) -> str:
        """The filter as a text: a cursor belongs to one."""
        return "audit" + self.model_dump_json(exclude={"page_size", "after"}, exclude_none=True)


@router.get("/audit", operation_id="listAudit")
def list_audit(
    asked: Annotated[AuditInput, Query()], caller: SiteAdmin, engine: Engine
) -> AuditPage:
    """List actions, newest first. Actions on a single job are in its history."""
    question = asked.question()
    where = AuditFilter(actor=asked.actor, action=asked.action, target=asked.target)
    found = unseal(asked.after, question)
    page = engine.operator.audit.page(where, limit=asked.page_size, after=found)
    return AuditPage(items=[audit_line(line) for line in page.rows], next=seal(page.next, question))
