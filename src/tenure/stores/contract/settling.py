"""Settling the runs of claimed jobs in a store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from tenure.core.settlement import Settlement


class Written(NamedTuple):
    """Ids of settlements that were applied, and of those that another transaction has locked: they
    are unchanged and worth another try. What is in neither was refused.
    """

    applied: frozenset[str] = frozenset()
    locked: frozenset[str] = frozenset()


class Settling(Protocol):
    """How runs end."""

    def settle(self, settlements: Sequence[Settlement], tx: Any = None) -> frozenset[str]:
        """Write only where the fence still matches; answer the ids that were applied (3, 6)."""
        ...
