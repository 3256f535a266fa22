"""What a route says of its own answers, for the OpenAPI document."""

from __future__ import annotations

from typing import Any

Responses = dict[int | str, dict[str, Any]]


def may(*statuses: int) -> Responses:
    """The problems that a route can answer beside those that every route can."""
    return {status: {} for status in statuses}
