"""Parse values of the command line: durations, times, JSON, slots."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import typer

from tenure.core.errors import OptionError, PayloadError

DURATION = re.compile(r"^(\d+(?:\.\d+)?)\s*(s|m|h|d|w)$")
SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
LONGEST = timedelta(days=3_660)  # keeps "now minus duration" inside the range of datetime


def duration(text: str) -> timedelta:
    """`30s`, `15m`, `2h`, `7d`."""
    match = DURATION.match(text.strip().lower())
    if match is None:
        raise typer.BadParameter(f"{text!r} is not a duration such as 30s, 15m, 2h or 7d")
    seconds = float(match[1]) * SECONDS[match[2]]
    if seconds > LONGEST.total_seconds():
        raise typer.BadParameter(f"{text!r} is more than the maximum of ten years")
    return timedelta(seconds=seconds)


def moment(text: str) -> datetime:
    """An ISO 8601 time with a zone, or a duration before now."""
    if DURATION.match(text.strip().lower()):
        return datetime.now(UTC) - duration(text)
    try:
        return iso_time("time", text)
    except OptionError as error:
        raise typer.BadParameter(f"{error}; or give a duration before now, such as 2h") from None


def iso_time(name: str, text: str) -> datetime:
    """An ISO 8601 time. It must have a time zone."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise OptionError(
            f"{name} {text!r} is not an ISO 8601 time such as 2026-01-31T09:00Z"
        ) from None
    if found.tzinfo is None:
        raise OptionError(f"{name} {text!r} has no time zone; write {text}Z for UTC")
    return found


def parse_json(text: str | bytes, what: str) -> Any:
    """Standard JSON: NaN and infinities are rejected."""
    try:
        return json.loads(text, parse_constant=_no_constant)
    except RecursionError:
        raise PayloadError(f"the {what} is nested too deeply") from None
    except ValueError as error:
        raise PayloadError(f"the {what} is not JSON: {error}") from None


def slots(texts: list[str], default: int) -> dict[str, int] | None:
    """Slots per queue from `pdf=2`. A bare name gets the worker's concurrency."""
    found: dict[str, int] = {}
    for text in texts:
        name, separator, count = text.partition("=")
        if not name or (separator and not (count.isascii() and count.isdigit() and int(count))):
            raise typer.BadParameter(
                f"--queue must be NAME or NAME=SLOTS with at least 1 slot, not {text!r}"
            )
        found[name] = int(count) if separator else default
    return found or None


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not allowed in JSON")
