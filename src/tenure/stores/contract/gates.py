"""Rules of gates: limits of single keys, and holds."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from tenure.core.rules.holds import KeyHold
from tenure.core.rules.limits import Limit


@dataclass(frozen=True, slots=True)
class KeyLimit:
    """The limit of one key."""

    kind: str
    key: str
    limit: Limit


class GateStore(Protocol):
    """What applies to one key of a kind, or to a kind while it is held. Every claimer heeds a
    change within a second (21).
    """

    def limit(self, kind: str, key: str, limit: Limit | None, tx: Any = None) -> bool:
        """Limit one key; None removes its limit. Answers whether it had one."""
        ...

    def hold(self, hold: KeyHold, tx: Any = None) -> None:
        """Nothing more of the kind, or of the key, starts. It replaces a hold that is there."""
        ...

    def release(self, kind: str, key: str | None, tx: Any = None) -> bool:
        """End a hold, and wake the workers; False if there was none."""
        ...

    def limits(self) -> Sequence[KeyLimit]:
        """The limits of single keys, in order of name."""
        ...

    def holds(self) -> Sequence[KeyHold]:
        """The holds that are not over, in order of name."""
        ...

    def begins(self, kinds: Collection[str]) -> frozenset[str]:
        """Those of these kinds that have a key with a rate or with probes."""
        ...

    def subscribe(self, heard: Callable[[str], None]) -> Callable[[], None]:
        """Call `heard(gate)` for every hold of this process, from any thread; returns how to
        unsubscribe. Claims report those of other processes.
        """
        ...

    def gates_of(self, job_ids: Collection[str]) -> Mapping[str, str | None]:
        """The gate of each job: its kind's, or its key's if it has one; None if it has neither."""
        ...
