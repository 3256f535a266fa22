"""Where lanes may have come: every lane that is not known lies in exactly one gap."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tenure.core.rules.shares import Lane
from tenure.stores.sql.claim.lane_gaps import AT_ONCE, gaps

LANES = st.builds(
    Lane,
    st.sampled_from(["mail", "pdf"]),
    st.integers(0, 3),
    st.text("abcé", max_size=2),
)


@given(st.sets(LANES, min_size=1, max_size=5), LANES)
def test_a_lane_is_known_or_in_one_gap(known: set[Lane], other: Lane) -> None:
    between, levels = gaps(known, turn=0)
    if other.queue not in {lane.queue for lane in known}:
        return
    inside = [
        gap
        for gap in between
        if gap[:2] == (other.queue, other.priority) and gap[2] <= other.tenant < gap[3]
    ]
    inside_levels = [
        level
        for level in levels
        if level[0] == other.queue and level[1] < other.priority < level[2]
    ]

    assert len(inside) + len(inside_levels) == (0 if other in known else 1)


def test_many_gaps_are_looked_into_in_turn() -> None:
    known = [Lane("mail", 2, f"{number:03}") for number in range(100)]
    seen = {gap for turn in range(20) for gap in gaps(known, turn)[0]}

    assert len(gaps(known, 0)[0]) == AT_ONCE
    assert len(seen) == 101
