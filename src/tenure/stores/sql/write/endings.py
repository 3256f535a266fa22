"""Features that follow the endings of jobs: their plans run in the transaction that ends a job.

The row of such a job is marked (`Chained.FOLLOWED`) when it is added. A marked row takes the path
of jobs that others wait for, which is a transaction everywhere. So plain jobs pay nothing, and a
process without the feature notices that it must not end the job.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import NamedTuple, Protocol

from tenure.core.endings import EVERY_KIND, EndedJob, EndingFailed, Event, FeatureNeeded
from tenure.core.errors import StoreUnavailable
from tenure.core.job import NewJob, State
from tenure.core.rules.order import Chained
from tenure.stores.contract.endings import FOLLOWED_KINDS, Hook
from tenure.stores.sql import rows
from tenure.stores.sql.dialect import Trouble
from tenure.stores.sql.statement import Plan, Rows, Statement

# Passing trouble of the database: the transaction is repeated, or tried again later.
PASSING = (Trouble.AGAIN, Trouble.LOCKED, Trouble.LOST, Trouble.UNABLE)
KIND = attrgetter("kind")


class Followed(Protocol):
    """A row as far as its mark goes."""

    @property
    def id(self) -> int:
        """Its number."""
        ...

    @property
    def kind(self) -> str:
        """The kind of its job."""
        ...

    @property
    def chained(self) -> int:
        """Its marks."""
        ...


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


class Endings:
    """The hooks of a process. `kinds` is empty if nobody follows any; `trouble` reads the errors of
    the driver.
    """

    def __init__(self, trouble: Callable[[BaseException], Trouble]) -> None:
        self._trouble = trouble
        self._hooks: list[Hook] = []
        self.kinds: frozenset[str] = frozenset()
        self.purges: frozenset[str] = frozenset()

    def add(self, hook: Hook) -> None:
        """Follow an event of these kinds."""
        if hook not in self._hooks:
            self._use([*self._hooks, hook])

    def remove(self, feature: str) -> None:
        """Forget its hooks."""
        self._use([hook for hook in self._hooks if hook.feature != feature])

    def _use(self, hooks: list[Hook]) -> None:
        """Each attribute is replaced in one step: other threads read them meanwhile."""
        purges = [hook for hook in hooks if hook.event is Event.PURGED]
        self._hooks = hooks
        self.purges = frozenset[str]().union(*(hook.kinds for hook in purges))
        self.kinds = frozenset[str]().union(*(hook.kinds for hook in hooks)) - {EVERY_KIND}

    def features_of(self, kind: str) -> set[str]:
        """The features that follow this kind here."""
        return {hook.feature for hook in self._hooks if kind in hook.kinds}

    def concern(self, jobs: Iterable[NewJob]) -> bool:
        """Whether some of these are followed."""
        return not self.kinds.isdisjoint(map(KIND, jobs))

    def mark(self, ids: Collection[int]) -> Plan[None]:
        """Mark those that were added by a process which did not know that they are followed."""
        if self.kinds and ids:
            values = {"ids": sorted(ids), "kinds": sorted(self.kinds)}
            if unmarked := [number for (number,) in (yield Statement("unfollowed", values))]:
                yield Statement("follow_jobs", {"ids": unmarked})

    def follow(self, job: Followed) -> bool:
        """Whether some feature follows it, here or elsewhere."""
        return bool(job.chained & Chained.FOLLOWED) or job.kind in self.kinds

    def is_strange(self, link: Followed) -> bool:
        """Whether a feature follows it that this process does not have."""
        return bool(link.chained & Chained.FOLLOWED) and link.kind not in self.kinds

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
        yield from self._run(Event.ENDED, ended)
        yield from self._run(Event.REOPENED, reopened)

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
        yield from self._run(Event.PURGED, jobs)

    def _run(self, event: Event, jobs: Sequence[EndedJob]) -> Plan[None]:
        if not jobs:
            return
        by_kind: dict[str, list[EndedJob]] = defaultdict(list)
        for job in jobs:
            by_kind[job.kind].append(job)
        for hook in self._hooks:
            if hook.event is not event:
                continue
            kinds = by_kind if EVERY_KIND in hook.kinds else hook.kinds & by_kind.keys()
            mine = [job for kind in sorted(kinds) for job in by_kind[kind]]
            if mine:
                yield from self._guarded(hook, mine)

    def _guarded(self, hook: Hook, jobs: list[EndedJob]) -> Plan[None]:
        """A mistake of a feature is told apart from a row that the database refuses: the job keeps
        its outcome, and is ended when the feature works again.
        """
        try:
            yield from hook.plan(jobs)
        except StoreUnavailable:
            raise
        except Exception as error:
            if self._trouble(error) in PASSING:
                raise
            ids = [job.id for job in jobs]
            raise EndingFailed(hook.feature, hook.event, ids, error) from error


def _features(found: Rows) -> list[str]:
    """The names in a row of `find_record`."""
    for _, _, _, data, _ in found:
        return list(json.loads(data)["features"])
    return []
