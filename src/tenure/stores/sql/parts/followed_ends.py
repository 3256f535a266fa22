"""When to look for followed jobs that are to end without a run, and what became of them."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

from tenure.core.errors import StoreError, StoreUnavailable
from tenure.stores.sql.claim.end_followed import EndedFollowed, end_followed
from tenure.stores.sql.database import Database
from tenure.stores.sql.endings.endings import Endings
from tenure.stores.sql.statement import Statement
from tenure.stores.sql.write.settle import PATIENCE_SECONDS

LOOK_EVERY = 1.0
AT_ONCE = 100
# A feature that has failed is likely to fail again: the job rests before the next try.
REST_SECONDS = 10.0
NOBODY = 0  # no row has this number; a list in SQL must not be empty


@dataclass(slots=True)
class Look(EndedFollowed):
    """What a look has done; `failed` has the errors of features, by job."""

    failed: dict[str, Exception] = field(default_factory=dict)


class FollowedEnds:
    """Of one process. Threads may look at the same time: rows are locked by the first."""

    def __init__(self, database: Database, endings: Endings) -> None:
        self._database = database
        self._endings = endings
        self._looked_at: float | None = None
        self._resting: dict[int, float] = {}

    def look_due(self, *, thorough: bool) -> bool:
        """Whether some kind is followed here, and the last look is a second ago."""
        if not self._endings.kinds:
            return False
        last, now = self._looked_at, self._database.elapsed()
        return thorough or last is None or now - last >= LOOK_EVERY

    def look(self, *, thorough: bool) -> Look:
        """End what is due. If one job's feature fails, the others end all the same. A thorough look
        also tries those that rest.
        """
        self._looked_at = now = self._database.elapsed()
        resting = {} if thorough else self._resting
        self._resting = {id: until for id, until in resting.items() if until > now}
        done = Look()
        due = list[int]()
        with suppress(StoreError):  # the claim before it has gone well, and must not be lost
            due = self._due()
        if due and not self._try(due, done, alone=len(due) == 1):
            for number in due:
                self._try([number], done, alone=True)
        return done

    def _due(self) -> list[int]:
        values = {
            "kinds": sorted(self._endings.kinds),
            "resting": [NOBODY, *self._resting],
            "limit": AT_ONCE,
        }
        return [number for (number,) in self._database.read(Statement("followed_due", values))]

    def _try(self, ids: Collection[int], done: Look, *, alone: bool) -> bool:
        """Whether they could be ended together. A lock in the way is no error, but for later."""
        try:
            found = self._database.run(partial(end_followed, ids, self._endings), PATIENCE_SECONDS)
        except StoreUnavailable:
            return alone
        except Exception as error:
            if not alone:
                return False
            for number in ids:
                self._resting[number] = self._database.elapsed() + REST_SECONDS
                done.failed[str(number)] = error
            return True
        done.ended += found.ended
        done.freed += found.freed
        return True
