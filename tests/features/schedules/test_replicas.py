"""Four replicas, 400 days, both changes of the clock, each dead a third of the time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta
from random import Random
from zoneinfo import ZoneInfo

import pytest

from tenure import RunningJob, Tenure
from tenure.features.schedules import Schedules
from tenure.testing.clock import ManualClock
from tenure.testing.conformance.promise import promise
from tests.features.schedules.conftest import Make, run, slots
from tests.features.schedules.dying import STEPS, Killed, dies_after, revive

BERLIN = ZoneInfo("Europe/Berlin")
DAYS = 400
HALF_A_DAY = 43_200


def declare(app: Tenure) -> None:
    """In the gap and the doubled hour; on weekdays; by absolute time."""

    async def handler(job: RunningJob, slot: datetime) -> None: ...

    cron, every = Schedules.of(app).cron, Schedules.of(app).every
    cron("30 2 * * *", zone="Europe/Berlin", slot_as="slot", catch_up="all")(
        app.job("daily")(handler)
    )
    cron("0 9 * * 1-5", zone="Europe/Berlin", slot_as="slot", catch_up="all")(
        app.job("weekdays")(handler)
    )
    every(hours=36, slot_as="slot", catch_up="all")(app.job("every")(handler))


@promise(10)
@pytest.mark.parametrize("dialect", ["sqlite", "postgres"], indirect=True)
def test_every_slot_of_400_days_fires_once(make: Make, clock: ManualClock) -> None:
    random, begun = Random(4), clock.now()
    replicas = [make(declare) for _ in range(4)]
    run(replicas[0])

    deaths = sum(day_half(replicas, clock, random) for _ in range(2 * DAYS))
    clock.advance(seconds=60)
    run(replicas[0])

    assert deaths > 30
    for kind, expected in expectations(begun, clock.now()).items():
        assert slots(replicas[0], kind) == expected, kind
        assert Schedules.of(replicas[0]).get(kind).dropped == 0


def day_half(replicas: list[Tenure], clock: ManualClock, random: Random) -> int:
    """About twelve hours; those alive look in any order, some of them for the last time."""
    clock.advance(seconds=HALF_A_DAY)
    alive = [replica for replica in replicas if random.random() < 2 / 3]
    return sum(look(replica, random) for replica in random.sample(alive, len(alive)))


def look(replica: Tenure, random: Random) -> int:
    dies = random.random() < 0.2
    if dies:
        dies_after(replica, random.choice(STEPS))
    killed = 1
    with suppress(Killed):
        run(replica)
        killed = 0
    revive(replica)
    return killed


def expectations(begun: datetime, end: datetime) -> dict[str, list[str]]:
    """By another way than the code under test: day by day, with the zone's rules alone."""
    days = [begun.date() + timedelta(days=number) for number in range(DAYS + 2)]
    weekdays = [day for day in days if day.weekday() < 5]
    found = {
        "daily": [shown(day, time(2, 30)) for day in days],
        "weekdays": [shown(day, time(9)) for day in weekdays],
        "every": list(multiples(begun, end)),
    }
    return {
        kind: [moment.isoformat() for moment in moments if begun < moment <= end]
        for kind, moments in found.items()
    }


def shown(day: date, clock_time: time) -> datetime:
    """When a clock on the wall first shows this time, or a later one where it leaves it out."""
    moment = datetime.combine(day, time(), BERLIN).astimezone(UTC)
    wall = datetime.combine(day, clock_time)
    while moment.astimezone(BERLIN).replace(tzinfo=None) < wall:
        moment += timedelta(minutes=30)
    return moment


def multiples(begun: datetime, end: datetime) -> Iterator[datetime]:
    moment = datetime(1970, 1, 1, tzinfo=UTC)
    while moment <= end:
        if moment > begun:
            yield moment
        moment += timedelta(hours=36)
