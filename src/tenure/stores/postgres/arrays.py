"""A batch as PostgreSQL takes it: one array per column, each a text that is made in one step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import NoneType
from typing import Any

NUL = "\x00"


def array(column: Sequence[Any]) -> list[Any]:
    """psycopg wants one type in an array: a whole number among fractions is one of them."""
    if float in map(type, column):
        return [None if value is None else float(value) for value in column]
    return list(column)


def literals(values: Mapping[str, Any]) -> dict[str, Any]:
    """Arrays as text: joined in one step, where psycopg goes by element.

    The statements cast every parameter, so the server reads them as what they are.
    """
    return {
        name: literal(value) if type(value) is list else value for name, value in values.items()
    }


def literal(values: list[Any]) -> str | list[Any]:
    """An array of numbers or of texts as PostgreSQL writes it; anything else as it is."""
    types = set(map(type, values))
    if types <= {int, NoneType}:
        return "{" + ",".join(["NULL" if one is None else str(one) for one in values]) + "}"
    if types == {str}:
        return _text_literal(values)
    return values


def _text_literal(texts: list[str]) -> str | list[str]:
    """Quoted all at once. No text can hold the character that stands between them meanwhile; one
    that does is left to psycopg, which refuses it.
    """
    joined = NUL.join(texts)
    if joined.count(NUL) >= len(texts):
        return texts
    quoted = joined.replace("\\", "\\\\").replace('"', '\\"').replace(NUL, '","')
    return '{"' + quoted + '"}'
