"""Finished steps of jobs on a SQL database."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from tenure.core.lease import Lease
from tenure.stores.sql.database import Database
from tenure.stores.sql.ids import row_id
from tenure.stores.sql.statement import Statement, one


class SqlSteps:
    """See `tenure.stores.contract.StepStore`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def remember(self, lease: Lease, name: str, result: str) -> bool:
        """Write under the fence; a step that was written already stays as it is."""
        values = {"id": int(lease.job_id), "fence": lease.fence, "name": name, "result": result}
        return bool(self._database.run(partial(one, Statement("remember_step", values))))

    def recall(self, job_id: str) -> Mapping[str, str]:
        """Results by name."""
        values = {"id": row_id(job_id) or 0}
        return dict(self._database.read(Statement("recall_steps", values)))
