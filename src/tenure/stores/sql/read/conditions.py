"""A filter as names of conditions and their values; the `.sql` files have the conditions' text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import fields
from datetime import datetime
from typing import Any

from tenure.core.errors import OptionError
from tenure.core.filter import JobFilter, PayloadPath
from tenure.core.job import DEAD_LETTERS
from tenure.core.rules.error_groups import parsed
from tenure.core.timing.clock import to_micros
from tenure.stores.sql.ids import row_id
from tenure.stores.sql.rows import CODES

Condition = tuple[list[str], dict[str, Any]]
"""Names for `{where}`, and their values."""


def conditions(where: JobFilter) -> tuple[tuple[str, ...], dict[str, Any]]:
    """The names for `{where}`, in a fixed order, and their values."""
    names: list[str] = []
    values: dict[str, Any] = {}
    for field in fields(where):
        value = getattr(where, field.name)
        if value is None:
            continue
        if field.name in SEARCHED:
            found, more = SEARCHED[field.name](value)
            names += found
            values.update(more)
            continue
        if field.name == "states" and set(value) <= set(DEAD_LETTERS):
            names.append("letters")
            if len(value) == len(DEAD_LETTERS):
                continue
        names.append(_name(field.name, where))
        values[field.name] = _value(field.name, value)
    return tuple(names), values


def _any_key(value: str) -> Condition:
    return ["any_key"], {"any_key": value, "any_id": row_id(value) or 0}


def _error(value: str) -> Condition:
    """A pattern for a part of a text; the store compares in lower case."""
    plain = re.sub(r"([\\%_])", r"\\\1", value.lower())
    # As it stands in the stored JSON, in which letters beyond ASCII are escaped.
    written = json.dumps(value)[1:-1].lower()
    return ["error"], {"error": f"%{plain}%", "error_json": written}


def _error_group(value: str) -> Condition:
    number = parsed(value)
    return ["error_group"], {"error_group": -1 if number is None else number}


def _payload(found: tuple[PayloadPath, ...]) -> Condition:
    """Each of the few paths has a condition of its own: databases bind no number of them."""
    names: list[str] = []
    values: dict[str, Any] = {}
    for place, one in enumerate(found):
        names.append(f"payload_{place}")
        values |= {
            f"path_{place}": one.parts,
            f"json_path_{place}": one.json_path,
            f"value_{place}": one.value,
        }
    return names, values


def _parent(value: str) -> Condition:
    return ["parent"], {"parent": f"job:{value}", "parent_id": row_id(value) or 0}


SEARCHED: dict[str, Callable[[Any], Condition]] = {
    "any_key": _any_key,
    "error": _error,
    "error_group": _error_group,
    "payload": _payload,
    "parent": _parent,
}


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
