"""Two thousand jobs, a hundred deaths, and nothing lost, doubled or ended by the wrong hand.

The harness is itself on trial: engines that are broken on purpose must not pass it.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tenure import Tenure
from tests.crash.campaign import Campaign, Plan
from tests.crash.ground import ground
from tests.crash.marks import Marks
from tests.crash.mutants import MUTANTS
from tests.crash.programs import Programs
from tests.crash.verdict import Verdict, judge
from tests.support.databases import Databases

pytestmark = pytest.mark.crash

FULL = Plan(
    work=1_815, inside=70, outside=95, pauses=12, poison=8, spread_seconds=12, limit_seconds=240
)
"""`make chaos` runs ten times as much of it."""
TIMES = int(os.environ.get("TENURE_CHAOS", "1"))
SMALL = Plan(work=40, inside=6, outside=4, pauses=4, poison=2, spread_seconds=2, limit_seconds=30)
CAMPAIGNS = 5
SYMPTOMS = {
    "settle_without_fence": "was settled by",
    "attempts_counted_late": "times, 3 + ",
    "leases_never_reclaimed": "is not final",
    "takeover_keeps_the_fence": "times under fence",
    "refusal_ignored": "has effects of",
    "effects_committed_first": "has effects of",
}


def run_campaign(app: Tenure, programs: Programs, marks: Marks, plan: Plan, **env: str) -> Verdict:
    campaign = Campaign(app, programs, marks, plan)
    campaign.enqueue()
    programs.start("fleet", "4", **env)
    campaign.run()
    programs.end_all()
    return judge(campaign)


def test_nothing_is_lost_or_doubled_when_workers_are_killed_all_the_time(
    app: Tenure, programs: Programs, marks: Marks
) -> None:
    assert FULL.jobs == 2_000
    verdict = run_campaign(app, programs, marks, FULL.times(TIMES), TENURE_CONCURRENCY="8")

    assert verdict.breaches == []
    assert verdict.kills >= 100 * TIMES
    assert verdict.inside >= 50 * TIMES
    assert verdict.outside >= 50 * TIMES
    assert verdict.pauses >= 4 * TIMES
    assert verdict.refused >= 4 * TIMES


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
class TestTheHarness:
    """On one database: what is on trial here is not the database."""

    def test_a_sound_engine_passes(self, app: Tenure, programs: Programs, marks: Marks) -> None:
        verdict = run_campaign(app, programs, marks, SMALL)

        assert verdict.breaches == []
        assert verdict.inside >= SMALL.inside
        assert verdict.outside == SMALL.outside
        assert verdict.pauses > 0

    @pytest.mark.parametrize("mutant", MUTANTS)
    def test_a_broken_engine_does_not_pass(
        self, databases: Databases, tmp_path: Path, mutant: str
    ) -> None:
        """Not every small campaign hits the flaw: one of a few must."""
        breaches: list[str] = []
        for number in range(CAMPAIGNS):
            (folder := tmp_path / str(number)).mkdir()
            with ground(databases.empty(folder), folder) as (app, programs, marks):
                verdict = run_campaign(app, programs, marks, SMALL, CRASH_MUTANT=mutant)
            breaches += verdict.breaches
            if any(SYMPTOMS[mutant] in breach for breach in breaches):
                return
        pytest.fail(f"{mutant} was not noticed in {CAMPAIGNS} campaigns: {breaches}")
