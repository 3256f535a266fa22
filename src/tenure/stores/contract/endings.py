"""What features do when jobs end, in the transaction that ends them (20)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from tenure.core.endings import EndedJob, Event

FOLLOWED_KINDS = "endings"
"""The collection of records that name the features of each followed kind."""
EndingPlan = Callable[[Sequence[EndedJob]], Generator[Any, Any, None]]
"""Is given the jobs of one transaction, and yields statements of the feature's own SQL."""


class Hook(NamedTuple):
    """A feature's plan for an event of these kinds."""

    feature: str
    event: Event
    kinds: frozenset[str]
    plan: EndingPlan


class EndingStore(Protocol):
    """Runs the plans of features where jobs end."""

    @property
    def kinds(self) -> Collection[str]:
        """The kinds whose endings some feature of this process follows."""
        ...

    def add(self, hook: Hook) -> None:
        """From now on run this plan. Adding the same hook again changes nothing."""
        ...

    def remove(self, feature: str) -> None:
        """Forget its hooks."""
        ...

    def publish(self) -> Mapping[str, Sequence[str]]:
        """Tell other processes which features follow which kinds. Answers the kinds that are
        followed by features which this process does not have, with the names of those.
        """
        ...
