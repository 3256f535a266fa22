"""Finds the runners that WORKER_TICK_RUNNERS names: registered ones, and parts of them.

A runner may have `parts`: runners for one part of its work each, such as one schedule. They run
only if they are named; without a list every registered runner does all of its work.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from tenure.app import Tenure
from tenure.core.errors import OptionError
from tenure.feature import Runner

WORDS = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")


def parts_of(app: Tenure) -> dict[str, Runner]:
    """The parts of all runners, by name."""
    parts: dict[str, Runner] = {}
    for runner in app.runners:
        parts.update(getattr(runner, "parts", {}))
    return parts


def found_runners(app: Tenure, names: Sequence[str]) -> list[Runner]:
    """The runners of features that these names mean, without those that nobody has."""
    known = {runner.name: runner for runner in app.runners}
    known = {**parts_of(app), **known}
    meant = [found for name in names if (found := meaning(name, known)) is not None]
    return [known[name] for name in meant]


def meaning(name: str, known: Collection[str]) -> str | None:
    """The known name that is meant: the same one, or the only one of the same words.

    `invoiceReminders`, `invoice.reminders`, `invoice_reminders` and `invoice-reminders` are the
    same words.
    """
    if name in known:
        return name
    alike = [one for one in known if words_of(one) == words_of(name)]
    if len(alike) > 1:
        raise OptionError(
            f"the runner {name!r} may be any of {', '.join(alike)}; write one of them"
        )
    return alike[0] if alike else None


def words_of(name: str) -> tuple[str, ...]:
    """The words of a name, whatever joins them."""
    return tuple(word.lower() for word in WORDS.findall(name))
