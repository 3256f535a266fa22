"""What the parts of SqlJobs share."""

from __future__ import annotations

from tenure.stores.sql.claim.lane_caches import LaneCaches
from tenure.stores.sql.database import Database
from tenure.stores.sql.parts.endings import SqlEndings
from tenure.wakeups.due_jobs import Wakeups


class SqlPart:
    """The database, who is woken when jobs are due, which features follow the ends of jobs, and
    what this process knows of lanes.
    """

    def __init__(self, database: Database, wakeups: Wakeups, endings: SqlEndings) -> None:
        self.name: str = database.dialect.name
        self._database = database
        self._wakeups = wakeups
        self._endings = endings
        self.lane_caches = LaneCaches()
