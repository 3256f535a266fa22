"""Counts jobs that no worker has ended: an operator, a sweep, or a job that they waited for."""

from __future__ import annotations

import random
from collections.abc import Iterable

from tenure.core.rules.rollups import KEPT
from tenure.stores.sql.statement import Plan, Statement

SPANS = tuple(KEPT)
# The rows that all workers add to; any other source has rows of its own.
WORKERS = 0
SOURCES = 2**31 - 1


def roll_up_ended(ids: Iterable[int]) -> Plan[None]:
    """In the transaction that ends them, which may be a caller's own and stay open for long: so it
    adds to rows that nobody else writes.
    """
    ended = sorted(ids)
    if ended:
        source = random.randint(1, SOURCES)  # noqa: S311
        values = {"ids": ended, "spans": list(SPANS), "source": source}
        yield Statement("roll_up_ended", values)
