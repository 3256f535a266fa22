"""Ten jobs that kill their workers, among two thousand that do not: only the guilty pay."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.crash.mutants import POISON_MUTANTS
from tests.crash.poison_campaign import POISON_ATTEMPTS, breaches, campaign, is_poison
from tests.support.databases import Databases

pytestmark = pytest.mark.crash

INNOCENTS, POISON = 2_000, 10
FEW_INNOCENTS, FEW_POISON = 120, 2
SYMPTOMS = {
    "suspects_are_not_isolated": "crashes",
    "neighbours_are_charged": "was charged",
}


def test_all_innocents_succeed_and_none_is_charged(databases: Databases, tmp_path: Path) -> None:
    found = campaign(databases.empty(tmp_path), tmp_path, INNOCENTS, POISON)

    assert breaches(found, INNOCENTS + POISON)[:10] == []
    assert sum(job.crashes for job in found if is_poison(job)) > POISON_ATTEMPTS * POISON


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
class TestTheHarness:
    """Engines that are broken on purpose must not pass it."""

    def test_suspects_may_also_run_alone_in_their_worker(
        self, databases: Databases, tmp_path: Path
    ) -> None:
        found = campaign(
            databases.empty(tmp_path), tmp_path, FEW_INNOCENTS, FEW_POISON, WORKER_ISOLATION="alone"
        )

        assert breaches(found, FEW_INNOCENTS + FEW_POISON) == []

    @pytest.mark.parametrize("mutant", POISON_MUTANTS)
    def test_a_broken_engine_does_not_pass(
        self, databases: Databases, tmp_path: Path, mutant: str
    ) -> None:
        found = campaign(
            databases.empty(tmp_path), tmp_path, FEW_INNOCENTS, FEW_POISON, CRASH_MUTANT=mutant
        )

        told = breaches(found, FEW_INNOCENTS + FEW_POISON)
        assert any(SYMPTOMS[mutant] in one for one in told), told
