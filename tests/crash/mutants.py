"""Broken engines, each broken in one place: a harness that passes one of them proves nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tenure.core.rules import crash_recovery as recovery
from tenure.jobs import settle_block as settling
from tenure.stores.sql import database, queries
from tenure.stores.sql.claim import lost_leases as recover
from tenure.worker.running import run


def settle_without_fence() -> None:
    """A late worker may end the new holder's run."""
    change({"settle_jobs": ("AND tenure_jobs.fence = s.fence", "")})


def attempts_counted_late() -> None:
    """A job that kills its worker never runs out of attempts."""
    change(
        {
            "as_claimed": ("attempt = attempt + 1, ", ""),
            "settle_jobs": ("attempt = attempt - s.refund", "attempt = attempt + 1 - s.refund"),
        }
    )


def leases_never_reclaimed() -> None:
    """Whatever a dead worker held stays with it."""
    change({"overdue_leases": ("lease_until < {now}", "lease_until < 0")})


def takeover_keeps_the_fence() -> None:
    """The new holder cannot be told from the old one."""
    change({"as_claimed": ("fence = fence + 1", "fence = max(fence, 1)")})


def refusal_ignored() -> None:
    """The rows of a late worker are committed although its settlement was refused."""

    def look_away(self: settling.Settling, applied: frozenset[str]) -> None:
        return None

    settling.Settling._require = look_away  # type: ignore[method-assign]


def effects_committed_first() -> None:
    """The handler's rows and the end of the job are two transactions."""

    @contextmanager
    def apart(self: settling.Settling) -> Iterator[Any]:
        store = self._job.app.store
        with store.transaction() as inner:
            yield inner
        # A crash between the two commits is what this mutant is about.
        if store.jobs.settle([self._settlement]):
            self._done()

    def block(self: settling.Settling, *args: Any) -> None:
        first(self, *args)
        self._block = apart(self)

    first = settling.Settling.__init__
    settling.Settling.__init__ = block  # type: ignore[assignment, method-assign]


def suspects_are_not_isolated() -> None:
    """What was at work in a dead worker runs beside the others again."""
    run.Run.suspect = property(lambda self: False)  # type: ignore[assignment]


def neighbours_are_charged() -> None:
    """A crash costs everybody an attempt who was near."""

    def charge(**facts: Any) -> recovery.Recovery:
        over = facts["attempt"] >= facts["max_attempts"]
        return recovery.Recovery(recovery.Fate.BURY if over else recovery.Fate.AGAIN, charged=True)

    recover.recover = charge  # type: ignore[attr-defined]


MUTANTS: dict[str, Callable[[], None]] = {
    mutant.__name__: mutant
    for mutant in (
        settle_without_fence,
        attempts_counted_late,
        leases_never_reclaimed,
        takeover_keeps_the_fence,
        refusal_ignored,
        effects_committed_first,
    )
}
POISON_MUTANTS: dict[str, Callable[[], None]] = {
    mutant.__name__: mutant for mutant in (suspects_are_not_isolated, neighbours_are_charged)
}


def change(swaps: dict[str, tuple[str, str]]) -> None:
    """Change the text of named queries and fragments as they are loaded."""
    read = queries.read_sql

    def read_changed(package: str) -> dict[str, str]:
        texts = read(package)
        for name, (old, new) in swaps.items():
            texts = _swap(texts, name, old, new)
        return texts

    database.read_sql = read_changed  # type: ignore[attr-defined]


def _swap(texts: dict[str, str], name: str, old: str, new: str) -> dict[str, str]:
    begins = rf"(?:(?<=^-- name: {name}\n)|(?<=^-- fragment: {name}\n))"
    section = re.compile(rf"{begins}.*?(?=^-- (?:name|fragment): |\Z)", re.M | re.S)
    for file, text in texts.items():
        found = section.search(text)
        if found and old in found[0]:
            changed = text[: found.start()] + found[0].replace(old, new) + text[found.end() :]
            return {**texts, file: changed}
    raise LookupError(f"{name} does not say {old!r} any more: adapt the mutant")
