"""A handler's parameters as a pydantic model: what its arguments are bound to and checked by."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import NoneType
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError, create_model
from pydantic.fields import FieldInfo

from tenure.core.errors import OptionError


def arguments_model(kind: str, function: Callable[..., Any]) -> type[BaseModel]:
    """A pydantic model of the function's parameters after the job."""
    parameters = list(inspect.signature(function, eval_str=True).parameters.values())
    if not parameters:
        raise OptionError(f"the handler of {kind!r} takes no argument; its first one is the job")
    fields: dict[str, Any] = {}
    for parameter in parameters[1:]:
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise OptionError(f"the handler of {kind!r} takes named arguments: no *, ** or /")
        annotated = Any if parameter.annotation is parameter.empty else parameter.annotation
        default = ... if parameter.default is parameter.empty else parameter.default
        fields[parameter.name] = (annotated, default)
    config = ConfigDict(
        extra="forbid", arbitrary_types_allowed=False, protected_namespaces=(),
        ser_json_inf_nan="constants",
    )  # fmt: skip
    return create_model(f"Arguments of {kind}", __config__=config, **fields)


FLAT = (int, str, bool, int | None, str | None, bool | None)


def writes_canonical(model: type[BaseModel]) -> bool:
    """Whether pydantic's own JSON is the canonical text: plain types, in the order of names."""
    fields = model.model_fields
    return list(fields) == sorted(fields) and all(map(_is_flat, fields.values()))


def _is_flat(field: FieldInfo) -> bool:
    """Defaults are not checked by pydantic, so their types count as well."""
    known = field.is_required() or type(field.default) in (int, str, bool, NoneType)
    return field.annotation in FLAT and known and not field.metadata


def problems(error: ValidationError) -> str:
    """Each problem with its place; values are not repeated, they may be secret."""
    found = error.errors(include_url=False, include_input=False, include_context=False)
    return "; ".join(f"{'.'.join(map(str, one['loc'])) or 'value'}: {one['msg']}" for one in found)
