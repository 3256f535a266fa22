"""Text from the command line as values: durations, moments, JSON, slots."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import typer

from tenure.core.errors import OptionError, PayloadError

DURATION = re.compile(r"^(\d+(?:\.\d+)?)\s*(s|m|h|d|w)$")
SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
LONGEST = timedelta(days=3_660)


def duration(text: str) -> timedelta:
    """`30s`, `15m`, `2h`, `7d`."""
    match = DURATION.match(text.strip().lower())
    if match is None:
        raise typer.BadParameter(f"{text!r} is not a duration like 30s, 15m, 2h or 7d")
    seconds = float(match[1]) * SECONDS[match[2]]
    if seconds > LONGEST.total_seconds():
        raise typer.BadParameter(f"{text!r} is longer than ten years")
    return timedelta(seconds=seconds)


def moment(text: str) -> datetime:
    """An ISO time with its zone, or a duration: so long ago."""
    if DURATION.match(text.strip().lower()):
        return datetime.now(UTC) - duration(text)
    try:
        return iso_time("time", text)
    except OptionError as error:
        raise typer.BadParameter(f"{error}; or say how long ago, like 2h") from None


def iso_time(name: str, text: str) -> datetime:
    """An ISO time; without a zone nobody knows what it means."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise OptionError(f"{name} {text!r} is not an ISO time like 2026-01-31T09:00:00Z") from None
    if found.tzinfo is None:
        raise OptionError(f"{name} {text!r} has no time zone; write {text}Z for UTC")
    return found


def parse_json(text: str | bytes, what: str) -> Any:
    """JSON as the standard has it: no NaN, no infinities."""
    try:
        return json.loads(text, parse_constant=_no_constant)
    except RecursionError:
        raise PayloadError(f"the {what} is nested too deeply") from None
    except ValueError as error:
        raise PayloadError(f"the {what} is not JSON: {error}") from None


def slots(texts: list[str], default: int) -> dict[str, int] | None:
    """`pdf=2` for each queue; a bare name gets the worker's concurrency."""
    found: dict[str, int] = {}
    for text in texts:
        name, separator, count = text.partition("=")
        if not name or (separator and not (count.isascii() and count.isdigit() and int(count))):
            raise typer.BadParameter(f"--queue {text!r} is not NAME=SLOTS with at least one slot")
        found[name] = int(count) if separator else default
    return found or None


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} has no form in it")
