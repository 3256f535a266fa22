"""Slots divided over lanes: strictly between priorities, in turn within one."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from tenure.core.shares import Lane, Take, by_priority, divide

LANES = st.lists(
    st.builds(Lane, st.sampled_from(["mail", "pdf"]), st.just(1), st.text("abcdef", max_size=2)),
    unique=True,
    max_size=20,
)
SLOTS = st.fixed_dictionaries({"mail": st.integers(-1, 40)}, optional={"pdf": st.integers(0, 40)})


def lane(tenant: str, queue: str = "mail", priority: int = 1) -> Lane:
    return Lane(queue, priority, tenant)


def test_lanes_come_in_levels_best_first() -> None:
    lanes = [lane("b", priority=2), lane("a", priority=2), lane("z", priority=0)]

    assert by_priority(lanes) == [[lanes[2]], [lanes[1], lanes[0]]]
    assert by_priority([]) == []


def test_slots_are_spread_evenly() -> None:
    lanes = [lane("a"), lane("b"), lane("c")]

    assert divide(lanes, {"mail": 6}) == [Take(one, 2) for one in lanes]


def test_the_odd_slot_goes_in_turn() -> None:
    lanes = [lane("a"), lane("b"), lane("c")]

    winners = [divide(lanes, {"mail": 1}, turn)[0].lane.tenant for turn in range(4)]
    assert winners == ["a", "b", "c", "a"]


def test_each_queue_has_its_own_slots() -> None:
    lanes = [lane("a"), lane("a", "pdf"), lane("b", "pdf")]

    assert divide(lanes, {"mail": 3, "pdf": 2}) == [
        Take(lanes[0], 3),
        Take(lanes[1], 1),
        Take(lanes[2], 1),
    ]


def test_a_queue_without_slots_gets_nothing() -> None:
    assert divide([lane("a"), lane("b", "pdf")], {"mail": 0}) == []
    assert divide([], {"mail": 5}) == []


@given(LANES, SLOTS, st.integers(0, 100))
def test_no_queue_gets_more_than_its_slots(
    lanes: list[Lane], slots: dict[str, int], turn: int
) -> None:
    given_out: Counter[str] = Counter()
    for take in divide(lanes, slots, turn):
        assert take.count > 0
        given_out[take.lane.queue] += take.count

    for queue in {one.queue for one in lanes}:
        assert given_out[queue] == max(0, slots.get(queue, 0))


@given(LANES, SLOTS, st.integers(0, 100))
def test_no_lane_gets_two_more_than_another_of_its_queue(
    lanes: list[Lane], slots: dict[str, int], turn: int
) -> None:
    counts = {one: 0 for one in lanes} | {t.lane: t.count for t in divide(lanes, slots, turn)}

    for queue in {one.queue for one in lanes}:
        mine = [count for one, count in counts.items() if one.queue == queue]
        assert max(mine) - min(mine) <= 1


@given(LANES.filter(bool), st.integers(1, 5))
def test_over_a_round_of_turns_every_lane_gets_the_same(lanes: list[Lane], slots: int) -> None:
    level = [one for one in lanes if one.queue == lanes[0].queue]
    total: Counter[Lane] = Counter()
    for turn in range(len(level)):
        for take in divide(level, {level[0].queue: slots}, turn):
            total[take.lane] += take.count

    assert set(total.values()) == {slots}
