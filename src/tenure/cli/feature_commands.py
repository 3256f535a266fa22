"""The commands of installed features. They are looked for when no command of ours has the name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import typer
from typer.main import get_command

from tenure.app import Tenure
from tenure.cli.kit.output import note
from tenure.core.errors import TenureError
from tenure.feature import Feature, FeatureError, Problem
from tenure.feature.ask import commands_of
from tenure.feature.installed import installed
from tenure.settings import Settings


@cache
def installed_features() -> list[Feature]:
    """Each of an app of its own, which opens no database: one that is broken stays out, and says
    why on stderr, so that the others can still be used.
    """
    # Settings are those of no environment: a wrong variable must not take the help away.
    settings = Settings.model_construct()
    wanted = _wanted()
    found = []
    for name in installed():
        if wanted is not None and name not in wanted:
            continue
        try:
            feature = Tenure("sqlite:///tenure.db", settings=settings, features=[name])
            found += [one for one in feature.features if one.name == name]
        except TenureError as error:
            note(f"note: {error}")
    return found


@cache
def feature_commands() -> dict[str, Any]:
    """Click commands by name. Those of a broken feature are missing, with a note on stderr."""
    found: dict[str, Any] = {}
    for feature in installed_features():
        try:
            commands = commands_of(feature)
            found |= {name: _made(name, command) for name, command in commands.items()}
        except FeatureError as error:
            note(f"note: {error}")
    return found


def feature_problems() -> Mapping[type[TenureError], Problem]:
    """How the errors of installed features are answered."""
    return {
        kind: problem
        for feature in installed_features()
        for kind, problem in feature.problems.items()
    }


def _made(name: str, command: typer.Typer | Callable[..., Any]) -> Any:
    if isinstance(command, typer.Typer):
        made = get_command(command)
    else:
        single = typer.Typer(add_completion=False)
        single.command(name)(command)
        made = get_command(single)
    made.name = name
    return made


def _wanted() -> tuple[str, ...] | None:
    """TENURE_FEATURES; None where it is not set, or where other settings cannot be read."""
    try:
        return Settings().features
    except ValueError:
        return None
