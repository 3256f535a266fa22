"""Settling jobs whose end concerns others: under an ordering key, as a dependency, or a feature."""

from __future__ import annotations

from collections.abc import Sequence

from tenure.core.rules.shares import Lane
from tenure.core.settlement import Settlement
from tenure.stores.sql.endings.endings import Endings
from tenure.stores.sql.statement import Plan
from tenure.stores.sql.write.held_jobs import Link, ahead, ahead_now, let_go
from tenure.stores.sql.write.settle_rows import number_of, settle_rows


def settle_tied(
    settlements: Sequence[Settlement],
    patience: float | None,
    applied: set[int],
    endings: Endings,
) -> Plan[tuple[list[Lane], list[Link]]]:
    """Jobs whose end others wait for; answers the lanes that got a job, and the jobs. Stale ones
    are refused.
    """
    ids = [number_of(item) for item in settlements]
    links = yield from (ahead(ids) if patience is None else ahead_now(ids))
    if patience is not None:
        free = {link.id for link in links}
        settlements = [item for item in settlements if number_of(item) in free]
    yield from endings.check(links)
    done: set[int] = set()
    yield from settle_rows(settlements, done, tied=1, patience=patience)
    applied |= done
    over = [link for link in links if link.id in done]
    return (yield from let_go(over, endings, done)), over
