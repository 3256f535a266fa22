"""`/api/health/findings`: what `tenure doctor` finds, with what would mend it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from fastapi import APIRouter
from pydantic import Field

from tenure.api.kit.identity import SiteReader
from tenure.api.kit.service import Serving
from tenure.api.kit.shapes.shape import Moment, Shape
from tenure.feature.finding import Finding, Level, Remedy

router = APIRouter(prefix="/api/health", tags=["health"])


class RemedyShape(Shape):
    """A request to send, or a screen of the dashboard to open."""

    label: str
    method: str | None
    path: str | None
    body: dict[str, Any] | None
    screen: str | None
    danger: bool = Field(description="It cannot be undone.")


class FindingShape(Shape):
    """One fact, and what to do about it."""

    level: str = Field(examples=["warning"])
    check: str = Field(examples=["queues"])
    fact: str
    next: str | None
    figures: dict[str, Any] | None
    remedies: list[RemedyShape]


class FindingsShape(Shape):
    """The worst first; `status` is the worst level."""

    status: str = Field(examples=["ok", "warning", "problem"])
    as_of: Moment
    items: list[FindingShape]


@router.get("/findings", operation_id="listFindings")
def list_findings(caller: SiteReader, service: Serving) -> FindingsShape:
    """Check the installation as `tenure doctor` does. At most 5 seconds old."""
    at, found = service.findings.now()
    return findings_shape(at, found)


def findings_shape(at: datetime, found: list[Finding]) -> FindingsShape:
    """The shape of findings, the worst first."""
    ordered = sorted(found, key=lambda one: -one.level)
    worst = max((one.level for one in found), default=Level.OK)
    return FindingsShape(status=worst.word, as_of=at, items=[_finding(one) for one in ordered])


def _finding(one: Finding) -> FindingShape:
    return FindingShape(
        level=one.level.word,
        check=one.subject,
        fact=one.fact,
        next=one.todo or None,
        figures=dict(one.figures) or None,
        remedies=[_remedy(remedy) for remedy in one.remedies],
    )


def _remedy(one: Remedy) -> RemedyShape:
    return RemedyShape(
        label=one.label,
        method=one.method,
        path=one.path,
        body=None if one.body is None else dict(one.body),
        screen=one.screen,
        danger=one.danger,
    )
