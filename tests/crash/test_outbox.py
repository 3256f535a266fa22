"""Orders and their events through deaths of producers and workers: none lost, no ghost, no double.

The harness is itself on trial: what is done wrong on purpose must not pass it.
"""

from __future__ import annotations

import os

import pytest

from tenure import Tenure
from tests.crash.fates import ROLLED_BACK_EVERY
from tests.crash.marks import Marks
from tests.crash.programs import Programs
from tests.crash.trade import Plan, Trade

pytestmark = pytest.mark.crash

TIMES = int(os.environ.get("TENURE_CHAOS", "0"))
SMALL = Plan(orders=100, deadly=12, outside=2, limit_seconds=90)
FULL = Plan(orders=2_000, deadly=14, outside=4, limit_seconds=300)
"""Ten times that is 20,000 transactions and 200 kills at least: `make chaos`."""
KILLS = 20
FLAWS = {
    "event_before_the_order": "which is not there",
    "event_after_the_order": "has no effect of",
    "effects_apart": "effects of ledger",
    "deliveries_forgotten": "has no effect of stock",
}


def test_nothing_is_lost_in_the_outbox_when_producers_and_workers_are_killed(
    app: Tenure, programs: Programs, marks: Marks
) -> None:
    plan = FULL.times(TIMES) if TIMES else SMALL
    verdict = Trade(app, programs, marks, plan).run()

    assert verdict.breaches == []
    assert verdict.orders == len(plan.fates.kept)
    assert verdict.rolled_back == plan.orders // ROLLED_BACK_EVERY
    # A death after the end of a job does not come where another order killed that process first.
    assert verdict.inside >= 0.75 * plan.deadly
    assert verdict.outside >= (2 * plan.outside if TIMES else 1)  # a small shop is soon done
    assert verdict.kills >= KILLS * TIMES


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
@pytest.mark.parametrize("flaw", FLAWS)
def test_what_is_done_wrong_does_not_pass(
    app: Tenure, programs: Programs, marks: Marks, flaw: str
) -> None:
    plan = Plan(orders=60, deadly=6, outside=0, limit_seconds=30)
    verdict = Trade(app, programs, marks, plan).run(CRASH_FLAW=flaw)

    assert any(FLAWS[flaw] in breach for breach in verdict.breaches), verdict
