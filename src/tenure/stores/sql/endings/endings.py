"""Features that follow the endings of jobs: their plans run in the transaction that ends a job.

The row of such a job is marked (`Chained.FOLLOWED`) when it is added. A marked row takes the path
of jobs that others wait for, which is a transaction everywhere. So plain jobs pay nothing, and a
process without the feature notices that it must not end the job.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from tenure.core.endings import EVERY_KIND, EndedJob, Event, FeatureNeeded
from tenure.core.job import NewJob, State
from tenure.core.rules.order import Chained
from tenure.stores.contract.endings import FOLLOWED_KINDS
from tenure.stores.sql import rows
from tenure.stores.sql.endings.hooks import EndingHooks, Followed
from tenure.stores.sql.statement import Plan, Rows, Statement


class HookedRow(NamedTuple):
    """A row of `hooked_jobs`."""

    id: int
    kind: str
    tenant: str
    owner: str | None
    queue: str
    state: int
    reason: str | None
    correlation_id: str | None
    batch_id: int | None
    seq: int | None

    def job(self, former: State | None = None) -> EndedJob:
        """For the plans of features; `former` is the state now if it is not given."""
        state = rows.STATES[self.state]
        batch = None if self.batch_id is None else str(self.batch_id)
        return EndedJob(
            str(self.id), self.kind, self.tenant, self.owner, self.queue, state,
            former or state, self.reason, self.correlation_id, batch, self.seq,
        )  # fmt: skip


class Endings(EndingHooks):
    """Plans around the end of jobs: marking them, and telling the features."""

    def mark_new(self, created: Iterable[tuple[int, NewJob]]) -> Plan[None]:
        """Mark those of these new jobs that are followed."""
        if not self.kinds:
            return
        if ids := [number for number, job in created if job.kind in self.kinds]:
            yield Statement("follow_jobs", {"ids": ids})

    def mark(self, ids: Collection[int]) -> Plan[None]:
        """Mark those that were added by a process which did not know that they are followed."""
        if self.kinds and ids:
            values = {"ids": sorted(ids), "kinds": sorted(self.kinds)}
            if unmarked := [number for (number,) in (yield Statement("unfollowed", values))]:
                yield Statement("follow_jobs", {"ids": unmarked})

    def check(self, links: Iterable[Followed]) -> Plan[None]:
        """Before jobs end: FeatureNeeded if a feature follows one that this process lacks."""
        for link in links:
            if self.is_strange(link):
                found = yield Statement(
                    "find_record", {"collection": FOLLOWED_KINDS, "name": link.kind}
                )
                raise FeatureNeeded(link.kind, _features(found))

    def ended(self, links: Iterable[Followed], former: State) -> Plan[None]:
        """After jobs ended that were all in this state before."""
        followed = {link.id: former for link in links if link.chained & Chained.FOLLOWED}
        yield from self.moved(followed)

    def moved(self, former: Mapping[int, State]) -> Plan[None]:
        """After jobs moved from these states: tell who ended and who was reopened."""
        if not former:
            return
        found = yield Statement("hooked_jobs", {"ids": sorted(former)})
        jobs = [row.job(former[row.id]) for row in (HookedRow(*one) for one in found)]
        ended = [job for job in jobs if job.state.final and job.state is not job.former]
        reopened = [job for job in jobs if not job.state.final and job.former.final]
        yield from self.run(Event.ENDED, ended)
        yield from self.run(Event.REOPENED, reopened)

    def to_purge(self, ids: Collection[int]) -> Plan[list[EndedJob]]:
        """Before rows are removed: those whose purge a feature follows."""
        if not self.purges or not ids:
            return []
        found = yield Statement("hooked_jobs", {"ids": sorted(ids)})
        jobs = [HookedRow(*row).job() for row in found]
        if EVERY_KIND in self.purges:
            return jobs
        return [job for job in jobs if job.kind in self.purges]

    def purged(self, jobs: Sequence[EndedJob]) -> Plan[None]:
        """After their rows were removed."""
        yield from self.run(Event.PURGED, jobs)


def _features(found: Rows) -> list[str]:
    """The names in a row of `find_record`."""
    for _, _, _, data, _ in found:
        return list(json.loads(data)["features"])
    return []
