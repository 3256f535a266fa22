"""Decides what becomes of a job whose worker died, and whether it is charged. Pure.

A dead worker does not say which of its jobs killed it. What had not begun goes back as it was. What
had begun is suspect: it keeps its attempt and runs apart from the others, so that the next death
can be charged to exactly one job. `docs/decisions/0025-crashes.md` has the reasons.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from tenure.core.lease import Standing
from tenure.core.rules.run_again import MAX_REFUNDS


class Fate(StrEnum):
    """Whether the job runs again, is buried, or is cancelled."""

    AGAIN = "again"
    BURY = "bury"
    CANCEL = "cancel"


@dataclass(frozen=True, slots=True)
class Recovery:
    """The job's fate, whether the crash costs it an attempt, and its standing from now on."""

    fate: Fate
    charged: bool = False
    standing: Standing = Standing.SUSPECT

    @property
    def began(self) -> bool:
        """Whether its handler had started, as far as the store knows."""
        return self.standing is not Standing.RESERVED


def recover(
    *, attempt: int, max_attempts: int, refunds: int, standing: int, cancel_requested: bool
) -> Recovery:
    """A job is charged if it ran alone in the worker that died, or was spared too often."""
    if cancel_requested:
        return Recovery(Fate.CANCEL)
    if standing == Standing.RESERVED:
        return Recovery(Fate.AGAIN, standing=Standing.RESERVED)
    charged = standing == Standing.ALONE or refunds >= MAX_REFUNDS
    if charged and attempt >= max_attempts:
        return Recovery(Fate.BURY, charged=True)
    return Recovery(Fate.AGAIN, charged=charged)
