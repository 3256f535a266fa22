"""A walk over the newest rows of an index, in short steps: for conditions that have no index."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from tenure.core.filter import JobFilter
from tenure.core.job import State
from tenure.stores.sql.read.conditions import conditions
from tenure.stores.sql.rows import LAST_ID
from tenure.stores.sql.statement import Rows, Statement

MOST_WALKED = 100_000
# What is slow to look at is not walked over for longer than this.
MOST_SECONDS = 0.5
# A step is one short statement. The first is the shortest: mostly it fills the page.
FIRST_STEP = 2_000
STEP = 14_000
SLOW_STEP = 3_500
SLOW = frozenset({"error", "payload_0"})
# What an index over (…, id) serves, the narrowest first.
BASES = ("letters", "owner", "named_tenant")
# What keeps rows few by itself, so that there is nothing to walk over.
FEW = frozenset({"ids", "error_group"})


def walk_of(where: JobFilter) -> tuple[str, ...] | None:
    """The conditions of the index to walk over; None if an index answers all of it."""
    names, _ = conditions(where)
    if FEW & set(names) or open_only(where):
        return None
    base = base_of(names)
    return base if set(names) - set(base) else None


def base_of(names: tuple[str, ...]) -> tuple[str, ...]:
    """The condition whose index is the narrowest to walk over; none: all jobs."""
    return next(((name,) for name in BASES if name in names), ())


def open_only(where: JobFilter) -> bool:
    """Jobs that have not ended are few, and lie in indexes of their own."""
    if where.states is None:  # a worker has running jobs alone
        return where.worker is not None
    return bool(where.states) and not any(State(state).final for state in where.states)


class Walk:
    """`on()` takes the next step: its rows are those within `bounds`."""

    def __init__(
        self,
        read: Callable[[Statement], Rows],
        base: tuple[str, ...],
        values: dict[str, Any],
        after: int = LAST_ID,
        *,
        slow: bool = False,
    ) -> None:
        self._read = read
        self._base = base
        self._values = values
        self.after = after
        self.edge = after
        self.walked = 0
        self.over = False
        # The rows of one tenant, or the failed ones, are far apart from each other.
        self._step = SLOW_STEP if slow or base else STEP
        self._until = time.monotonic() + MOST_SECONDS

    @property
    def bounds(self) -> dict[str, Any]:
        """The values of the step's bounds."""
        return {"after": self.after, "edge": self.edge}

    def on(self) -> bool:
        """Whether there is another step, within what one request may read."""
        if self.over or self.walked >= MOST_WALKED or time.monotonic() > self._until:
            return False
        step = self._step if self.walked else FIRST_STEP
        self.after = self.edge
        asked = {**self._values, "after": self.after, "walked": step}
        [(edge, count)] = self._read(Statement("page_edge", asked, where=self._base))
        self.walked += count
        self.over = count < step
        self.edge = 0 if edge is None else edge
        return bool(count)
