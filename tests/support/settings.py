"""Every setting that the code reads, found by looking through it."""

from __future__ import annotations

import importlib
import pkgutil

from pydantic import AliasChoices
from pydantic_settings import BaseSettings

import tenure


def all_settings() -> list[type[BaseSettings]]:
    """Every class of settings in the package."""
    for module in pkgutil.walk_packages(tenure.__path__, "tenure."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    return [one for one in BaseSettings.__subclasses__() if one.__module__.startswith("tenure.")]


def names_of(settings: type[BaseSettings], field: str) -> list[str]:
    """A setting's variables: its prefix and name, or the whole names that it was given."""
    match settings.model_fields[field].validation_alias:
        case AliasChoices(choices=choices):
            return [str(choice) for choice in choices]
        case None:
            return [f"{settings.model_config['env_prefix']}{field.upper()}"]
        case alias:
            return [str(alias)]


def all_variables() -> set[str]:
    """Every environment variable that sets something."""
    return {
        name
        for settings in all_settings()
        for field in settings.model_fields
        for name in names_of(settings, field)
    }
