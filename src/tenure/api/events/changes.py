"""Which jobs have changed since the last look at the database. No database in here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tenure.core.job import Job, State
from tenure.stores.contract import LogLine

# Bounds the memory. A forgotten job is reported once more when it is seen again.
MOST_KNOWN = 20_000
MOST_FOLLOWED = 2_000


@dataclass(frozen=True, slots=True)
class JobNews:
    """One job as it is now, with its log lines."""

    job: Job
    lines: Sequence[LogLine] = ()


def face(job: Job) -> tuple[Any, ...]:
    """The fields that an event reports: if they are the same, nothing has happened."""
    return (
        job.state, job.fence, job.attempt, job.priority, job.hold, job.run_at,
        job.progress, job.progress_note, job.cancel_requested, job.reason,
    )  # fmt: skip


class SeenJobs:
    """Jobs as they were when last seen. Bounded: the oldest are forgotten."""

    def __init__(self) -> None:
        self._faces: dict[str, tuple[Any, ...]] = {}
        self._running: dict[str, None] = {}

    @property
    def followed(self) -> set[str]:
        """Jobs that were running when last seen: they are looked at until they end."""
        return set(self._running)

    def changed(self, found: Iterable[Job]) -> list[Job]:
        """Those that differ from before or are new; all are remembered."""
        return [job for job in found if self._differs(job)]

    def forget(self, ids: Iterable[str]) -> None:
        """Do not follow jobs that no longer exist."""
        for job_id in ids:
            self._running.pop(job_id, None)

    def _differs(self, job: Job) -> bool:
        # Removed and added: dictionaries keep the order of insertion, so the first is the oldest.
        before = self._faces.pop(job.id, None)
        self._faces[job.id] = now = face(job)
        self._follow(job)
        if len(self._faces) > MOST_KNOWN:
            self._faces.pop(next(iter(self._faces)))
        return before != now

    def _follow(self, job: Job) -> None:
        self._running.pop(job.id, None)
        if job.state is State.RUNNING:
            self._running[job.id] = None
            if len(self._running) > MOST_FOLLOWED:
                self._running.pop(next(iter(self._running)))
