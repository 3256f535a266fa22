"""What a feature brings to an app: handlers, runners, slots of its queues."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from tenure.jobs.handler import Handler


class Runner(Protocol):
    """A named step of a tick: does what it can within the budget, says how much it did."""

    name: str

    def run(self, budget: Any) -> int:
        """The number of things done."""
        ...


class Feature(Protocol):
    """What `include` takes: handlers and runners; it may have `slots` of its queues besides."""

    @property
    def handlers(self) -> Iterable[Handler[Any]]:
        """What it can run."""
        ...

    @property
    def runners(self) -> Iterable[Runner]:
        """What it does in every tick."""
        ...
