"""Reading jobs: one, many, pages, counts, history and log lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tenure.core.errors import OptionError
from tenure.core.filter import JobFilter
from tenure.core.job import Job, State
from tenure.core.page import MAX_PAGE, Page
from tenure.stores.contract import Attempt, LogLine
from tenure.stores.contract.reading import Counts, Relatives, ShortError
from tenure.stores.sql.ids import log_line_id, row_id
from tenure.stores.sql.parts.part import SqlPart
from tenure.stores.sql.read import job_rows
from tenure.stores.sql.read.conditions import conditions
from tenure.stores.sql.read.counts import count_open, count_states
from tenure.stores.sql.read.page import read_page
from tenure.stores.sql.read.relatives import last_errors, relatives
from tenure.stores.sql.read.walk import open_only
from tenure.stores.sql.rows import STATES
from tenure.stores.sql.statement import Statement

# Within a JSON string these quotes would be escaped: no message of an error looks like this.
COUNTS = '%"counts": {%'


class SqlReading(SqlPart):
    """See `tenure.stores.contract.Reading`."""

    def get(self, job_id: str) -> Job | None:
        """One job, with payload and result."""
        number = row_id(job_id)
        if number is None:
            return None
        found = self._database.read(Statement("get_job", {"id": number}))
        return job_rows.job(found[0]) if found else None

    def look(self, ids: Sequence[str]) -> dict[str, Job]:
        """Many jobs in one statement, by id."""
        numbers = [number for one in ids if (number := row_id(one)) is not None]
        if not numbers:
            return {}
        found = self._database.read(Statement("get_jobs", {"ids": numbers}))
        return {job.id: job for job in map(job_rows.job, found)}

    def page(self, where: JobFilter, limit: int = 50, after: str | None = None) -> Page[Job]:
        """Newest first."""
        if not 1 <= limit <= MAX_PAGE:
            raise OptionError(f"a page has 1 to {MAX_PAGE} rows, not {limit}")
        return read_page(self._database.read, where, limit, after)

    def count(self, where: JobFilter) -> Mapping[State, int]:
        """How many jobs match, by state."""
        if open_only(where):
            return count_open(self._database.read, where)
        names, values = conditions(where)
        found = self._database.read(Statement("count_jobs", values, where=names))
        return {STATES[code]: count for code, count in found}

    def tally(self, where: JobFilter) -> Counts:
        """Jobs by state at a bounded cost."""
        return count_states(self._database.read, where)

    def last_errors(self, ids: Sequence[str]) -> Mapping[str, ShortError]:
        """The last failures of these jobs in one statement."""
        return last_errors(self._database.read, ids)

    def relatives(self, job: Job, limit: int = 100) -> Relatives:
        """Parent, children, links of `after`, finished steps."""
        return relatives(self._database.read, job, limit)

    def history(self, job_id: str) -> Sequence[Attempt]:
        """Oldest first."""
        number = row_id(job_id) or 0
        found = self._database.read(Statement("job_history", {"id": number}))
        return [job_rows.attempt(row) for row in found]

    def failure_counts(self, job_id: str) -> Mapping[str, int]:
        """Those of the newest line that has some."""
        values = {"id": row_id(job_id) or 0, "counts": COUNTS}
        found = self._database.read(Statement("failure_counts", values))
        return job_rows.failure_counts(found[0]) if found else {}

    def logs(self, job_id: str, limit: int = 500, after: str | None = None) -> Sequence[LogLine]:
        """Oldest first."""
        values = {"id": row_id(job_id) or 0, "limit": limit, "after": log_line_id(after)}
        found = self._database.read(Statement("job_logs", values))
        return [job_rows.log_line(row) for row in found]
