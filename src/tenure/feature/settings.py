"""Reads the settings of a feature; what is wrong is said with the name of the variable."""

from __future__ import annotations

from typing import TypeVar

from pydantic import ValidationError
from pydantic_settings import BaseSettings

from tenure.core.errors import OptionError

S = TypeVar("S", bound=BaseSettings)


def read_settings(kind: type[S]) -> S:
    """The settings from the environment, or an OptionError that names each wrong variable."""
    try:
        return kind()
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False, include_context=False)
        said = (f"{_variable(kind, one['loc'])}{one['msg']}" for one in found)
        raise OptionError("; ".join(said)) from None


def _variable(kind: type[BaseSettings], location: tuple[int | str, ...]) -> str:
    """A field's name with its prefix; a field with a name of its own is told by that."""
    if not location:
        return ""
    name = str(location[0])
    prefix = kind.model_config.get("env_prefix", "")
    return f"{name}: " if name.isupper() else f"{prefix}{name}: ".upper()
