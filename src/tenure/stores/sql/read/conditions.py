"""A filter as names of conditions and their values; the `.sql` files have the conditions' text."""

from __future__ import annotations

from dataclasses import fields
from datetime import datetime
from typing import Any

from tenure.core.errors import OptionError
from tenure.core.filter import JobFilter
from tenure.core.job import DEAD_LETTERS
from tenure.core.timing.clock import to_micros
from tenure.stores.sql.ids import row_id
from tenure.stores.sql.rows import CODES


def conditions(where: JobFilter) -> tuple[tuple[str, ...], dict[str, Any]]:
    """The names for `{where}`, in a fixed order, and their values."""
    names: list[str] = []
    values: dict[str, Any] = {}
    for field in fields(where):
        value = getattr(where, field.name)
        if value is None:
            continue
        if field.name == "states" and set(value) == set(DEAD_LETTERS):
            names.append("letters")
            continue
        names.append(_name(field.name, where))
        values[field.name] = _value(field.name, value)
    return tuple(names), values


def _name(field: str, where: JobFilter) -> str:
    """A tenant has an index of its own; an owner within a tenant is found by the owners' index."""
    return "named_tenant" if field == "tenant" and where.tenant and not where.owner else field


def _value(name: str, value: Any) -> Any:
    if name == "ids":
        return [found for found in map(row_id, value) if found is not None]
    if name == "batch_id":
        return row_id(value) or 0
    if name == "states":
        return [CODES[state] for state in value]
    if isinstance(value, datetime):
        return moment(name, value)
    return list(value) if isinstance(value, tuple) else value


def moment(name: str, value: datetime) -> int:
    """A time as it is stored. A time without a zone is ambiguous and refused."""
    if value.utcoffset() is None:
        raise OptionError(f"{name} must have a time zone: write datetime.now(UTC), not {value!r}")
    return to_micros(value)
