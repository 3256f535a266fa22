"""A replica that dies after a step of firing: nothing it would do later happens."""

from __future__ import annotations

from typing import Any

from tenure import Tenure


class Killed(BaseException):
    """As `kill -9`, but the test goes on."""


STEPS = ("locked", "read", "added", "moved on", "committed")
PLACES = {
    "locked": ("locks", "acquire"),
    "read": ("records", "find"),
    "added": ("jobs", "add"),
    "moved on": ("records", "put"),
}


def dies_after(app: Tenure, step: str) -> None:
    """From now on. The open transaction ends as that of a lost connection does."""

    def dead(*args: Any) -> Any:
        raise Killed(step)

    vars(app.store.locks)["release"] = dead
    if step in PLACES:
        part, name = PLACES[step]
        store = getattr(app.store, part)
        vars(store)[name] = _last(getattr(store, name), step)


def _last(method: Any, step: str) -> Any:
    def dying(*args: Any) -> Any:
        method(*args)
        raise Killed(step)

    return dying


def revive(app: Tenure) -> None:
    """A new process in its place."""
    for part in ("locks", "records", "jobs"):
        store = getattr(app.store, part)
        for name in ("acquire", "release", "find", "put", "add"):
            vars(store).pop(name, None)
