"""How a feature follows jobs: plans that run in the transaction in which a job ends."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any, ClassVar

from tenure.core.endings import EVERY_KIND, Event
from tenure.feature.errors import FeatureError
from tenure.stores.contract import EndingPlan, Hook


class FollowsJobs:
    """The part of a feature that follows the endings of jobs."""

    app: Any
    name: ClassVar[str]

    @cached_property
    def hooks(self) -> list[Hook]:
        """What `on_ending`, `on_reopening` and `on_purge` were called with."""
        return []

    def on_ending(self, kinds: str | Iterable[str], plan: EndingPlan) -> None:
        """Run this plan in the transaction that ends jobs of these kinds, however they end.

        The plan is given the jobs (`EndedJob`) and yields `self.sql.statement(...)`. It may run
        again where the database asks for it. If it fails, the jobs have not ended.
        """
        self._follow(Event.ENDED, kinds, plan)

    def on_reopening(self, kinds: str | Iterable[str], plan: EndingPlan) -> None:
        """Run this plan in the transaction in which an operator starts ended jobs anew."""
        self._follow(Event.REOPENED, kinds, plan)

    def on_purge(self, kinds: str | Iterable[str], plan: EndingPlan) -> None:
        """Run this plan in the transaction that removes the rows of ended jobs; "*" is any kind."""
        self._follow(Event.PURGED, kinds, plan)

    def _follow(self, event: Event, kinds: str | Iterable[str], plan: EndingPlan) -> None:
        named = frozenset([kinds] if isinstance(kinds, str) else kinds)
        hook = Hook(self.name, event, named, plan)
        check_hook(hook)
        self.hooks.append(hook)
        if self.app.features.has(self):
            self.app.features.give_hooks([self], self.app.store)


def check_hook(hook: Hook) -> None:
    """FeatureError where a plan would follow nothing, or every job of the database."""
    if not hook.kinds:
        raise FeatureError(f"the feature {hook.feature!r} follows no kind; name at least one")
    for kind in hook.kinds:
        if not isinstance(kind, str) or not kind:
            raise FeatureError(f"the feature {hook.feature!r} follows {kind!r}; name a kind")
    if EVERY_KIND in hook.kinds and hook.event is not Event.PURGED:
        raise FeatureError(
            f"the feature {hook.feature!r} follows every kind; only a purge can be followed for "
            "all of them: name the kinds, so that other jobs pay nothing"
        )
    if not callable(hook.plan):
        raise FeatureError(
            f"the feature {hook.feature!r} follows {', '.join(sorted(hook.kinds))} with "
            f"{hook.plan!r}; use a generator function that yields statements"
        )
