"""What becomes of a job whose holder went silent."""

from __future__ import annotations

import pytest

from tenure.core.lease import Recovery, recover
from tests.core.values import claimed


@pytest.mark.parametrize(
    ("attempt", "max_attempts", "cancel_requested", "fate"),
    [
        (1, 5, False, Recovery.AGAIN),
        (4, 5, False, Recovery.AGAIN),
        (5, 5, False, Recovery.BURY),
        (6, 5, False, Recovery.BURY),
        (1, 1, False, Recovery.BURY),
        (1, 5, True, Recovery.CANCEL),
        (5, 5, True, Recovery.CANCEL),
    ],
)
def test_a_silent_holder_has_spent_its_attempt(
    attempt: int, max_attempts: int, cancel_requested: bool, fate: Recovery
) -> None:
    found = recover(attempt=attempt, max_attempts=max_attempts, cancel_requested=cancel_requested)

    assert found is fate


def test_a_claimed_job_has_the_id_of_its_lease() -> None:
    assert claimed().id == "1"
