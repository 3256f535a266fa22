"""What becomes of a job whose worker died."""

from __future__ import annotations

from typing import Any

import pytest

from tenure.core.lease import Standing
from tenure.core.rules.crash_recovery import Fate, Recovery, recover
from tenure.core.rules.run_again import MAX_REFUNDS

SPARED = Recovery(Fate.AGAIN, charged=False, standing=Standing.SUSPECT)
CHARGED = Recovery(Fate.AGAIN, charged=True, standing=Standing.SUSPECT)


def recovery(**facts: Any) -> Recovery:
    usual = {"attempt": 1, "max_attempts": 5, "refunds": 0, "standing": Standing.SOUND}
    return recover(**{"cancel_requested": False, **usual, **facts})


@pytest.mark.parametrize("attempt", [1, 5])
@pytest.mark.parametrize("standing", [Standing.SOUND, Standing.SUSPECT])
def test_what_was_at_work_is_suspect_and_keeps_its_attempt(
    attempt: int, standing: Standing
) -> None:
    assert recovery(attempt=attempt, standing=standing) == SPARED


def test_what_had_not_begun_is_not_even_suspect() -> None:
    found = recovery(standing=Standing.RESERVED, attempt=5)

    assert found == Recovery(Fate.AGAIN, standing=Standing.RESERVED)
    assert not found.began


def test_who_ran_alone_did_it() -> None:
    assert recovery(standing=Standing.ALONE, attempt=4) == CHARGED
    assert recovery(standing=Standing.ALONE, attempt=5).fate is Fate.BURY


def test_nobody_is_spared_for_ever() -> None:
    assert recovery(refunds=MAX_REFUNDS - 1, attempt=5) == SPARED
    assert recovery(refunds=MAX_REFUNDS) == CHARGED
    assert recovery(refunds=MAX_REFUNDS, attempt=5).fate is Fate.BURY


@pytest.mark.parametrize("standing", Standing)
def test_a_cancel_that_was_asked_for_is_its_end(standing: Standing) -> None:
    assert recovery(standing=standing, cancel_requested=True).fate is Fate.CANCEL
