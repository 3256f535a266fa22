"""A handler's arguments: bound to its parameters and checked, when enqueued and when run."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from functools import cached_property
from types import NoneType
from typing import Any

from pydantic import BaseModel, ConfigDict, PydanticUserError, ValidationError, create_model
from pydantic.fields import FieldInfo

from tenure.core.errors import ArgumentsError, OptionError
from tenure.jobs.codec import EMPTY, encode, fitting

# A form that is longer than this helps nobody; the record of a handler stays small.
SCHEMA_LENGTH = 20_000


class Arguments:
    """The parameters of a handler after the job, as a pydantic model."""

    def __init__(self, kind: str, function: Callable[..., Any]) -> None:
        model = arguments_model(kind, function)
        self.kind = kind
        self._model = model
        self._names = tuple(model.model_fields)
        self._writes_canonical = writes_canonical(model)
        self._serializer = model.__pydantic_serializer__
        self._validate = model.__pydantic_validator__.validate_python
        self._validate_json = model.__pydantic_validator__.validate_json

    @cached_property
    def schema(self) -> dict[str, Any] | None:
        """The JSON schema of the arguments, for forms; None if it is missing or long."""
        try:
            found = self._model.model_json_schema()
        except PydanticUserError:  # a type that has no JSON schema
            return None
        found.pop("title", None)
        return found if len(json.dumps(found)) <= SCHEMA_LENGTH else None

    def pack(self, args: tuple[Any, ...], kwargs: dict[str, Any], limit: int) -> str:
        """Arguments as a payload of at most `limit` bytes; ArgumentsError if they do not fit."""
        given = self._named(args, kwargs) if args else kwargs
        try:
            model = self._validate(given)
        except ValidationError as error:
            raise ArgumentsError(self.kind, problems(error)) from None
        except TypeError as error:
            raise ArgumentsError(self.kind, str(error)) from None
        if self._writes_canonical:
            return fitting(self._serializer.to_json(model), limit)
        return encode(self._serializer.to_python(model, mode="json"), limit)

    def unpack(self, payload: str) -> dict[str, Any]:
        """A stored payload as typed arguments; ArgumentsError if they do not fit."""
        if not self._names and payload == EMPTY:
            return {}
        try:
            bound: dict[str, Any] = self._validate_json(payload).__dict__
        except ValidationError as error:
            raise ArgumentsError(self.kind, problems(error)) from None
        return bound

    def _named(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        names = self._names
        if len(args) > len(names):
            raise ArgumentsError(self.kind, f"takes {len(names)} arguments, {len(args)} given")
        given = dict(zip(names, args, strict=False))
        if twice := given.keys() & kwargs.keys():
            raise ArgumentsError(self.kind, f"{sorted(twice)[0]!r} is given twice")
        return {**given, **kwargs}


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
"""Types whose JSON is the same from pydantic and from our canonical encoder."""


def writes_canonical(model: type[BaseModel]) -> bool:
    """Whether pydantic's own JSON is the canonical text: plain types, in the order of names."""
    fields = model.model_fields
    return list(fields) == sorted(fields) and all(map(_is_flat, fields.values()))


def _is_flat(field: FieldInfo) -> bool:
    """Defaults are not checked by pydantic, so their types count as well."""
    known = field.is_required() or type(field.default) in (int, str, bool, NoneType)
    return field.annotation in FLAT and known and not field.metadata


def problems(error: ValidationError) -> str:
    """Each problem with its field. Values are left out, because they may be secret."""
    found = error.errors(include_url=False, include_input=False, include_context=False)
    return "; ".join(f"{'.'.join(map(str, one['loc'])) or 'value'}: {one['msg']}" for one in found)
