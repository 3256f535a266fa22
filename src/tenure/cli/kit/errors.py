"""Errors as one line on stderr and an exit code that means something.

The engine's codes are in the table here, those of features in `Feature.problems`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import typer
from pydantic import ValidationError
from typer.exceptions import TyperException

from tenure.access.settings import IdentitySettings
from tenure.core.errors import (
    InputError,
    JobNotFound,
    StoreError,
    TenureError,
    UsageError,
)
from tenure.core.refusals import (
    ApiKeyNotFound,
)
from tenure.feature import Problem
from tenure.settings import Settings
from tenure.worker.settings import WorkerSettings

FINE, PROBLEMS, BAD_INPUT, NO_DATABASE, NOT_FOUND = range(5)
INTERRUPTED = 130

EXIT_CODES = (
    "Exit codes: 0 fine; 1 problems found or refused; 2 wrong usage or bad input; "
    "3 database unavailable or schema out of date; 4 not found."
)

TABLE: tuple[tuple[type[TenureError], int], ...] = (
    (InputError, BAD_INPUT),
    (UsageError, BAD_INPUT),
    (JobNotFound, NOT_FOUND),
    (ApiKeyNotFound, NOT_FOUND),
    (StoreError, NO_DATABASE),
)
Problems = Callable[[], Mapping[type[TenureError], Problem]]
OURS = {one.__name__: one for one in (Settings, WorkerSettings, IdentitySettings)}
PREFIXES = {"ApiSettings": "TENURE_API_",  # importing it would cost every command the framework
            **{name: one.model_config["env_prefix"] for name, one in OURS.items()}}  # fmt: skip
DRIVERS = ("psycopg", "pymysql")


@dataclass(frozen=True, slots=True)
class Complaint:
    """What is said about an error, and the exit code."""

    message: str
    code: str
    exit_code: int


class Refused(TenureError):
    """The command was not carried out because nobody agreed to it."""

    code = "refused"


def run(command: Callable[[], object], problems: Problems = dict) -> int:
    """Run a command; whatever Tenure can name becomes a line and an exit code.

    `problems` says how the errors of features end a command; it is asked only where one did.
    """
    try:
        code = command()
    except typer.Exit as end:
        return end.exit_code
    except (typer.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except Exception as error:
        complaint = describe(error, problems)
        if complaint is None:
            raise
        say(complaint)
        return complaint.exit_code
    return code if isinstance(code, int) else FINE


def say(complaint: Complaint) -> None:
    """`error: message [code]`."""
    message = " ".join(complaint.message.split())
    typer.echo(f"error: {message} [{complaint.code}]", err=True)


def describe(error: Exception, problems: Problems = dict) -> Complaint | None:
    """What to say; None for a bug, which keeps its traceback."""
    if isinstance(error, TenureError):
        return Complaint(str(error), error.code, _exit_code(error, problems))
    if isinstance(error, TyperException):
        return Complaint(error.format_message(), "usage", BAD_INPUT)
    if isinstance(error, ValidationError) and is_about_settings(error):
        return Complaint(_settings(error), "bad_settings", BAD_INPUT)
    if isinstance(error, sqlite3.Error) or type(error).__module__.split(".")[0] in DRIVERS:
        return Complaint(f"the database said: {error}", "store_error", NO_DATABASE)
    return None


def _exit_code(error: TenureError, problems: Problems) -> int:
    """The engine's own classes first: looking at features means loading them all."""
    for kind, code in TABLE:
        if isinstance(error, kind):
            return code
    for kind, problem in problems().items():
        if isinstance(error, kind):
            return problem.exit_code
    return PROBLEMS


def is_about_settings(error: Exception) -> bool:
    """Whether our own settings refuse a value. A user's may have the same name, not the fields."""
    if not isinstance(error, ValidationError) or error.title not in PREFIXES:
        return False
    ours = OURS.get(error.title)
    named = (str(one["loc"][0]) for one in error.errors() if one["loc"])
    return ours is None or all(name.isupper() or name in ours.model_fields for name in named)


def _settings(error: ValidationError) -> str:
    """`VARIABLE: problem`, for each."""
    found = []
    for one in error.errors(include_url=False, include_input=False, include_context=False):
        name = _variable(error.title, str(one["loc"][0])) if one["loc"] else "settings"
        found.append(f"{name}: {one['msg']}")
    return "; ".join(found)


def _variable(settings: str, field: str) -> str:
    """A field's name with the prefix of its settings; some have a whole name of their own."""
    return field if field.isupper() else f"{PREFIXES[settings]}{field}".upper()
