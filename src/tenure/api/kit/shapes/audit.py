"""Audit lines in answers."""

from __future__ import annotations

from typing import Any

from tenure.api.kit.shapes.shape import Moment, Shape
from tenure.operations.audit import AuditLine


class AuditLineShape(Shape):
    """One action: when, who, what, on what, and further facts."""

    at: Moment
    actor: str
    action: str
    target: str
    facts: dict[str, Any]


class AuditPage(Shape):
    """Newest first. Pass `next` as `after` for the next page."""

    items: list[AuditLineShape]
    next: str | None


def audit_line(line: AuditLine) -> AuditLineShape:
    """The shape of an audit line."""
    return AuditLineShape(
        at=line.at,
        actor=line.actor,
        action=line.action,
        target=line.target,
        facts=dict(line.facts),
    )
