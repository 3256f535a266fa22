"""Load the app that `--app MODULE:OBJECT` names."""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from typing import Any

from tenure.app import Tenure
from tenure.cli.kit.engines import VARIABLE, check_url, remember, require_file
from tenure.cli.kit.errors import is_about_settings
from tenure.core.errors import InputError, UrlError
from tenure.stores.open import dialect_of


class AppError(InputError):
    """The app named by `--app` cannot be loaded."""

    code = "bad_app"


def load_app(name: str, database: str | None) -> Tenure:
    """The app at MODULE:OBJECT, with the current directory first on the path.

    An app created with `Tenure()` uses the database of the option. An app that names a database
    keeps it.
    """
    module_name, separator, path = name.partition(":")
    if not (module_name and separator and path):
        raise AppError(f"--app must be MODULE:OBJECT, such as shop.jobs:app, not {name!r}")
    check_url(database)
    if database is not None:
        # Before the import: a module-level Tenure() reads the variable while it is imported.
        os.environ[VARIABLE] = database
    found = _attribute(_module(module_name), name, path)
    if not isinstance(found, Tenure):
        raise AppError(f"{name} is not a Tenure app but of type {type(found).__name__}")
    if database is not None and _place(database) != _place(found.url):
        raise AppError(
            f"{name} names a database of its own, which differs from --database; "
            "create the app with Tenure() to let the option choose"
        )
    return remember(found)


def load_existing(name: str, database: str | None) -> Tenure:
    """Like `load_app`, but never creates a SQLite file: for commands that read or operate."""
    found = load_app(name, database)
    require_file(found.url)
    return found


def _module(name: str) -> Any:
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(error.name + ".")):
            raise AppError(
                f"no module {name!r} in the current directory or on the Python path"
            ) from error
        raise AppError(_import_problem(name, error)) from error
    except UrlError:  # about the database, not about the module
        raise
    except Exception as error:
        if is_about_settings(error):
            raise
        raise AppError(_import_problem(name, error)) from error


def _import_problem(name: str, error: Exception) -> str:
    """The error and the last line of its traceback in the user's code."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if not frame.filename.startswith("<frozen")]
    place = f" ({own[-1].filename}:{own[-1].lineno})" if own else ""
    return f"importing {name!r} failed: {type(error).__name__}: {error}{place}"


def _attribute(module: Any, name: str, path: str) -> Any:
    found = module
    for part in path.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            apps = [key for key, value in vars(module).items() if isinstance(value, Tenure)]
            known = f"its apps: {', '.join(apps)}" if apps else "it contains no Tenure app"
            raise AppError(f"{name}: the module has no {path!r}; {known}") from None
    return found


def _place(url: str) -> object:
    """What identifies a database: two spellings of one file are the same."""
    path = getattr(dialect_of(url), "path", None)
    return url if path is None else os.path.realpath(path)
