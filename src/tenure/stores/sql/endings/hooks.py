"""The hooks of a process: which features follow which kinds, and their plans."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import Protocol

from tenure.core.endings import EVERY_KIND, EndedJob, EndingFailed, Event
from tenure.core.errors import StoreUnavailable
from tenure.core.job import NewJob
from tenure.core.rules.order import Chained
from tenure.stores.contract.endings import Hook
from tenure.stores.sql.dialect import Trouble
from tenure.stores.sql.statement import Plan

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


class EndingHooks:
    """`kinds` is empty if nobody follows any; `trouble` reads the errors of the driver."""

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

    def follow(self, job: Followed) -> bool:
        """Whether some feature follows it, here or elsewhere."""
        return bool(job.chained & Chained.FOLLOWED) or job.kind in self.kinds

    def is_strange(self, link: Followed) -> bool:
        """Whether a feature follows it that this process does not have."""
        return bool(link.chained & Chained.FOLLOWED) and link.kind not in self.kinds

    def run(self, event: Event, jobs: Sequence[EndedJob]) -> Plan[None]:
        """Run the plans that follow this event of these jobs."""
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
