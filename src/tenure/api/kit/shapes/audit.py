"""Audit lines as they go out."""

from __future__ import annotations

from typing import Any

from tenure.api.kit.shapes.shape import Moment, Shape
from tenure.operations.audit import AuditLine


class AuditLineShape(Shape):
    """One action: when, who, what, on what, and what else is to be known."""

    at: Moment
    actor: str
    action: str
    target: str
    facts: dict[str, Any]


class AuditPage(Shape):
    """Newest first; `next` goes on."""

    items: list[AuditLineShape]
    next: str | None


def audit_line(line: AuditLine) -> AuditLineShape:
    """As it was written."""
    return AuditLineShape(
        at=line.at,
        actor=line.actor,
        action=line.action,
        target=line.target,
        facts=dict(line.facts),
    )
