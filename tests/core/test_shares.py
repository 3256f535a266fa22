"""Slots divided over lanes: strictly between priorities, by weight within one."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from tenure.core.rules.shares import MOST_KNOWN, TURN, Lane, Take, Tally, by_priority

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


def divide(lanes: list[Lane], slots: dict[str, int]) -> list[Take]:
    return Tally().divide(lanes, slots)


def shares(lanes: list[Lane], rounds: int, slots: int, weights: dict[str, float]) -> Counter[str]:
    """What each tenant has had after so many rounds in which all have enough to do."""
    tally, had = Tally(), Counter[str]()
    for _ in range(rounds):
        for take in tally.divide(lanes, {"mail": slots}, weights):
            tally.charge(take.lane, take.number, weights)
            had[take.lane.tenant] += take.number
    return had


def test_slots_are_spread_evenly() -> None:
    lanes = [lane("a"), lane("b"), lane("c")]

    assert divide(lanes, {"mail": 6}) == [Take(one, 2) for one in lanes]


def test_the_odd_slot_goes_round() -> None:
    lanes = [lane("a"), lane("b"), lane("c")]

    assert shares(lanes, rounds=30, slots=1, weights={}) == {"a": 10, "b": 10, "c": 10}
    assert shares(lanes, rounds=30, slots=4, weights={}) == {"a": 40, "b": 40, "c": 40}


def test_a_weight_is_a_share() -> None:
    lanes = [lane("a"), lane("b"), lane("c")]

    for slots in (1, 2, 7, 60):
        had = shares(lanes, rounds=60, slots=slots, weights={"a": 3.0, "b": 2.0})
        assert [round(had[tenant] / slots) for tenant in "abc"] == [30, 20, 10]


def test_more_tenants_than_slots_all_get_their_turn() -> None:
    lanes = [lane(f"{number:03}") for number in range(60)]
    had = shares(lanes, rounds=32, slots=10, weights={"007": 5.0})

    assert set(had.values()) <= {4, 5, 6, 24, 25, 26}
    assert had["007"] >= 24


def test_very_many_tenants_get_a_few_jobs_at_a_time_and_nobody_is_a_turn_behind() -> None:
    lanes = [lane(f"{number:04}") for number in range(1_000)]
    first = Tally().divide(lanes, {"mail": 100}, {"0000": 3.0})
    had = shares(lanes, rounds=500, slots=100, weights={"0000": 3.0})

    assert [take.number for take in first] == [3 * TURN, *[TURN] * 22]
    even = 500 * 100 / 1_002
    others = [count for tenant, count in had.items() if tenant != "0000"]
    assert all(abs(count - even) <= TURN for count in others)
    assert abs(had["0000"] - 3 * even) <= 3 * TURN


def test_who_comes_later_neither_gets_more_nor_less() -> None:
    tally, lanes = Tally(), [lane("a"), lane("b")]
    for _ in range(100):
        for take in tally.divide(lanes, {"mail": 1}):
            tally.charge(take.lane, take.number)
    lanes.append(lane("late"))
    later = Counter[str]()
    for _ in range(30):
        for take in tally.divide(lanes, {"mail": 1}):
            tally.charge(take.lane, take.number)
            later[take.lane.tenant] += take.number

    assert later == {"a": 10, "b": 10, "late": 10}


def test_who_was_away_has_saved_nothing_up() -> None:
    tally, lanes = Tally(), [lane("a"), lane("b")]
    for take in tally.divide(lanes, {"mail": 2}):
        tally.charge(take.lane, take.number)
    tally.leave(lane("b"))
    tally.charge(lane("a"), 100)

    assert {take.number for take in tally.divide(lanes, {"mail": 10})} == {5}


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


@given(LANES, SLOTS)
def test_no_queue_gets_more_than_its_slots(lanes: list[Lane], slots: dict[str, int]) -> None:
    given_out: Counter[str] = Counter()
    for take in divide(lanes, slots):
        assert take.number > 0
        given_out[take.lane.queue] += take.number

    for queue in {one.queue for one in lanes}:
        assert given_out[queue] == max(0, slots.get(queue, 0))


@given(LANES, SLOTS)
def test_no_lane_gets_two_more_than_another_of_its_queue(
    lanes: list[Lane], slots: dict[str, int]
) -> None:
    counts = {one: 0 for one in lanes} | {t.lane: t.number for t in divide(lanes, slots)}

    for queue in {one.queue for one in lanes}:
        mine = [count for one, count in counts.items() if one.queue == queue]
        assert max(mine) - min(mine) <= 1


def test_a_tally_does_not_grow_with_every_lane_there_ever_was() -> None:
    tally = Tally()
    for number in range(MOST_KNOWN + 10):
        tally.charge(Lane("q", 0, f"tenant {number}"), 1)

    assert MOST_KNOWN // 2 <= len(tally._had) <= MOST_KNOWN
