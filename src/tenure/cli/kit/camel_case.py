"""Data as `--json` prints it where the HTTP API has no shape for it: by the same rule of names."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

from pydantic.alias_generators import to_camel

OTHER_WORDS = {"owner": "userId"}


def camel(value: Any) -> Any:
    """A dataclass with `camelCase` names. Names inside of dictionaries are the user's own."""
    if not is_dataclass(value):
        return value
    named = ((field.name, getattr(value, field.name)) for field in fields(value))
    return {OTHER_WORDS.get(name, to_camel(name)): camel(one) for name, one in named}
