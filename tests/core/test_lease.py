"""A claim as a worker holds it."""

from __future__ import annotations

from tests.core.values import claimed


def test_a_claimed_job_has_the_id_of_its_lease() -> None:
    assert claimed().id == "1"
