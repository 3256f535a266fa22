"""Who needs a file: jobs, records, templates. A file that somebody refers to is not deleted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenure.feature import EndedJob, FeatureSql
from tenure.files.errors import FileMissing
from tenure.jobs.options import check_name
from tenure.stores.sql.statement import Plan

JOB = "job"
"""The kind of holder that goes by itself: with the row of the job."""


class References:
    """`files.refer`, `files.release` and `files.holders`."""

    def __init__(self, sql: FeatureSql) -> None:
        self._sql = sql

    def refer(self, file_id: str, kind: str, holder: str, *, tx: Any = None) -> None:
        """From now on this holder needs the file: it is not deleted before `release`."""
        _check_holder(kind, holder)
        self._sql.plan(lambda: self._refer(file_id, kind, holder), tx=tx)

    def _refer(self, file_id: str, kind: str, holder: str) -> Plan[None]:
        query = self._sql.statement
        if not (yield query("lock_file", id=file_id)):
            raise FileMissing(file_id)
        yield query("revive_file", id=file_id)
        yield query("add_ref", file_id=file_id, holder_kind=kind, holder_id=holder)

    def release(self, file_id: str, kind: str, holder: str, *, tx: Any = None) -> None:
        """This holder does not need it any more."""
        _check_holder(kind, holder)
        self._sql.run("drop_ref", file_id=file_id, holder_kind=kind, holder_id=holder, tx=tx)

    def forget_jobs(self, jobs: Sequence[EndedJob]) -> Plan[None]:
        """Jobs are removed: what they referred to is theirs no more."""
        ids = [job.id for job in jobs]
        yield self._sql.statement("drop_refs_of", holder_kind=JOB, holders=ids)

    def holders(self, file_id: str) -> list[tuple[str, str]]:
        """Who refers to it: kind and id."""
        return [(kind, holder) for kind, holder in self._sql.run("refs_of", file_id=file_id)]


def _check_holder(kind: str, holder: str) -> None:
    """MariaDB would cut a longer one without a word, and two holders could become one."""
    check_name("holder kind", kind)
    check_name("holder", holder)
