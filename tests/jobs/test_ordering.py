"""Ordering keys end to end: producers that commit late, workers that fail now and then."""

from __future__ import annotations

from tests.support.ordering import Plan, run


def test_no_aggregate_is_out_of_order(database_url: str) -> None:
    plan = Plan(aggregates=8, events=12, producers=4, workers=3, longest_commit=0.003)
    seen = run(database_url, plan)

    assert {len(set(seqs)) for seqs in seen.done.values()} == {12}
    assert (seen.inversions, seen.overlaps) == (0, 0)
