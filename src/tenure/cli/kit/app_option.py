"""`--app` for every command that opens an existing database: its URL, features and handlers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from copy import copy
from typing import Any

from typer.core import TyperGroup

# These load an app by themselves, or may create the database, which an app must not decide.
OWN = frozenset({"up", "worker", "api", "enqueue", "tick", "migrate", "move"})
HELP = "App whose database, features and handlers to use, such as shop.jobs:app."
_named: ContextVar[str | None] = ContextVar("tenure_app_option", default=None)


@contextmanager
def remembering_app() -> Iterator[None]:
    """Forget the app of a command when it ends."""
    token = _named.set(None)
    try:
        yield
    finally:
        _named.reset(token)


def named_app() -> str | None:
    """The app that the running command was given."""
    return _named.get()


def with_app_option(command: Any) -> Any:
    """The command, and those below it, with the option wherever they take `--database`."""
    if command is None or command.name in OWN:
        return command
    if isinstance(command, TyperGroup):
        for one in command.commands.values():
            with_app_option(one)
    given = {parameter.name: parameter for parameter in command.params}
    if "database" in given and "app" not in given:
        command.params.append(_app_option(given["database"]))
    return command


def _app_option(database: Any) -> Any:
    """A copy of the other option: what an option is made of differs between versions of Typer."""
    option = copy(database)
    option.name, option.opts, option.secondary_opts = "app", ["--app"], []
    option.metavar, option.help, option.show_default = "MODULE:OBJECT", HELP, False
    option.expose_value, option.callback = False, _name
    return option


def _name(context: Any, parameter: Any, value: str | None) -> str | None:
    if value is not None:
        _named.set(value)
    return value
