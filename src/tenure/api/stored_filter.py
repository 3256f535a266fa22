"""A filter as JSON, so that another process can go on with a move."""

from __future__ import annotations

from dataclasses import fields
from datetime import datetime
from typing import Any

from tenure.core.filter import JobFilter, PayloadPath
from tenure.core.job import State

TIMES = ("created_after", "created_before", "finished_before")


def filter_data(where: JobFilter) -> dict[str, Any]:
    """The conditions that are set."""
    found = {one.name: getattr(where, one.name) for one in fields(where)}
    return {name: _plain(value) for name, value in found.items() if value is not None}


def filter_of(data: dict[str, Any]) -> JobFilter:
    """The filter again. A condition that this code does not know is a TypeError: without it the
    filter would match more.
    """
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in data.items()
    }
    for name in TIMES:
        if name in values:
            values[name] = datetime.fromisoformat(values[name])
    if "states" in values:
        values["states"] = tuple(map(State, values["states"]))
    if "payload" in values:
        values["payload"] = tuple(PayloadPath(*one) for one in values["payload"])
    return JobFilter(**values)


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    return [_plain(one) for one in value] if isinstance(value, tuple) else value
