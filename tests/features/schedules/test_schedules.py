"""Rows: made from the code, kept as operators changed them, paused, resumed, run at once."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import pairwise
from typing import Any

import pytest

from tenure import ArgumentsError, Jobs, OptionError, RunningJob, Tenure
from tenure.core.errors import PayloadError, ScheduleNotFound
from tenure.core.filter import JobFilter
from tenure.features.schedules import CatchUp, Schedules, scheduled
from tenure.features.schedules.shapes import schedule_shape
from tenure.testing.clock import ManualClock
from tests.features.schedules.conftest import Make, nightly, run, slots

HOUR = 3600
DAY = 24 * HOUR
FIRST = "2026-01-01T01:30:00+00:00"
SECOND = "2026-01-02T01:30:00+00:00"


def test_a_worker_makes_the_rows_that_the_code_declares(make: Make) -> None:
    app = make(nightly)

    assert run(app) == 0

    [row] = Schedules.of(app).list()
    assert (row.name, row.terms.kind, row.active) == ("nightly", "nightly", True)
    assert row.next_at.isoformat() == FIRST


def test_a_slot_becomes_a_job_when_its_time_has_come(make: Make, clock: ManualClock) -> None:
    app = make(nightly)
    run(app)
    clock.advance(seconds=1.5 * HOUR - 1)
    assert run(app) == 0

    clock.advance(seconds=1)

    assert run(app) == 1
    assert run(app) == 0
    assert slots(app) == [FIRST]
    row = Schedules.of(app).get("nightly")
    assert (row.fired, row.dropped, row.next_at.isoformat()) == (1, 0, SECOND)
    assert row.last_job is not None
    assert app.get(row.last_job).enqueued_by == "schedule:nightly"


def test_the_job_is_as_its_handler_says(make: Make, clock: ManualClock) -> None:
    app = make()

    @Schedules.of(app).every(minutes=5, payload={"n": 3}, tenant="acme", name="five")
    @app.job("poll", queue="slow", priority=7)
    async def poll(job: RunningJob, n: int) -> None: ...

    run(app)
    clock.advance(seconds=300)
    run(make(app_name="other"))  # does not know the handler

    [job] = app.insight.stream()
    assert (job.kind, job.queue, job.priority, job.tenant) == ("poll", "slow", 7, "acme")
    assert app.get(job.id).payload == {"n": 3}


@pytest.mark.parametrize(("catch_up", "fired"), [("none", 0), ("last", 1), ("all", 3)])
def test_missed_slots(make: Make, clock: ManualClock, catch_up: str, fired: int) -> None:
    app, told = make(partial(nightly, catch_up=catch_up)), list[Any]()
    app.signals.subscribe(lambda _, facts: told.append(facts["slots"]), "schedule.dropped")
    run(app)
    clock.advance(seconds=3 * DAY)

    assert run(app) == fired
    assert slots(app) == [FIRST, SECOND, "2026-01-03T01:30:00+00:00"][3 - fired :]
    assert Schedules.of(app).get("nightly").dropped == 3 - fired
    assert told == ([3 - fired] if fired < 3 else [])


def test_a_budget_stops_and_the_rest_comes_later(make: Make, clock: ManualClock) -> None:
    app = make(partial(nightly, catch_up="all"))
    run(app)
    clock.advance(seconds=5 * DAY)

    assert [run(app, items=2) for _ in range(4)] == [2, 2, 1, 0]
    assert slots(app) == sorted(set(slots(app)))


def test_a_new_deploy_changes_what_the_code_says(make: Make, clock: ManualClock) -> None:
    run(make(nightly))
    clock.advance(seconds=HOUR)

    run(make(partial(nightly, cron="0 5 * * *", payload={"n": 2})))

    row = Schedules.of(make()).get("nightly")
    assert (row.terms.cron, row.terms.payload) == ("0 5 * * *", {"n": 2})
    assert row.next_at.isoformat() == "2026-01-01T04:00:00+00:00"


def test_a_deploy_over_a_slot_does_not_lose_it(make: Make, clock: ManualClock) -> None:
    run(make(nightly))
    clock.advance(seconds=2 * HOUR)

    after = make(partial(nightly, cron="30 2 * * 1-5"))

    assert run(after) == 1
    assert slots(after) == [FIRST]


def test_a_deploy_leaves_what_an_operator_edited(make: Make) -> None:
    app = make(nightly)
    run(app)
    Schedules.of(app).edit("nightly", cron="0 6 * * *", payload={"n": 1})

    later = make(partial(nightly, cron="0 5 * * *", catch_up="all"))
    run(later)

    terms = Schedules.of(later).get("nightly").terms
    assert (terms.cron, terms.payload, terms.catch_up) == ("0 6 * * *", {"n": 1}, "all")
    reset = Schedules.of(later).reset("nightly")
    assert (reset.terms.cron, reset.next_at.hour) == ("0 5 * * *", 4)


def test_what_no_code_has_declared_for_an_hour_is_disabled_and_comes_back(
    make: Make, clock: ManualClock
) -> None:
    run(make(nightly))
    without, told = make(), list[Any]()
    without.signals.subscribe(lambda _, facts: told.append(facts["schedule"]), "schedule.disabled")
    for _ in range(11):
        clock.advance(seconds=HOUR / 12)
        run(without)
        assert Schedules.of(without).get("nightly").enabled
    clock.advance(seconds=HOUR / 12)

    run(without)
    assert not Schedules.of(without).get("nightly").enabled
    assert told == ["nightly"]

    clock.advance(seconds=3 * DAY)
    again = make(nightly)
    assert run(again) == 0
    assert Schedules.of(again).get("nightly").next_at > clock.now()


def test_apps_with_names_leave_each_others_schedules_alone(make: Make) -> None:
    run(make(nightly, app_name="billing"))

    run(make(app_name="reports"))
    assert Schedules.of(make()).get("nightly").enabled

    with pytest.raises(OptionError, match=r"belongs to the app 'billing' \(TENURE_APP_NAME\)"):
        run(make(nightly, app_name="reports"))


def test_an_app_that_got_a_name_keeps_its_schedules(make: Make) -> None:
    run(make(nightly))
    named = make(nightly, app_name="billing")
    run(named)

    assert Schedules.of(named).get("nightly").app == "billing"


def test_a_paused_schedule_does_not_fire_and_does_not_catch_up(
    make: Make, clock: ManualClock
) -> None:
    app = make(partial(nightly, catch_up="all"))
    run(app)
    paused = Schedules.of(app).pause("nightly", "ada")
    clock.advance(seconds=3 * DAY)

    assert (paused.paused, paused.paused_by) == (True, "ada")
    assert run(app) == 0

    Schedules.of(app).resume("nightly")
    assert run(app) == 0
    clock.advance(seconds=DAY)
    assert run(app) == 1


def test_resuming_what_is_not_paused_leaves_its_slot(make: Make, clock: ManualClock) -> None:
    app = make(nightly)
    run(app)
    clock.advance(seconds=2 * HOUR)

    Schedules.of(app).resume("nightly")

    assert run(app) == 1


def test_an_interval_replaces_a_cron_expression_and_the_reverse(make: Make) -> None:
    app = make(nightly)
    run(app)

    every = Schedules.of(app).edit("nightly", every=600)
    assert (every.terms.cron, every.next_at.minute) == (None, 10)
    cron = Schedules.of(app).edit(
        "nightly", cron="@hourly", zone="UTC", catch_up=CatchUp.ALL, limit=3
    )
    assert (cron.terms.every, cron.next_at.minute, cron.terms.limit) == (None, 0, 3)


def test_an_edited_payload_leaves_the_slot_where_it_is(make: Make, clock: ManualClock) -> None:
    app = make(nightly)
    run(app)
    clock.advance(seconds=2 * HOUR)

    Schedules.of(app).edit("nightly", payload={"n": 5})

    assert run(app) == 1
    [job] = app.insight.stream()
    assert app.get(job.id).payload == {"slot": FIRST, "n": 5}


def test_run_now_adds_a_job_beside_the_slots(make: Make, clock: ManualClock) -> None:
    app = make(nightly)
    run(app)
    before = Schedules.of(app).pause("nightly")

    refs = {Schedules.of(app).run_now("nightly").id for _ in range(2)}

    assert len(refs) == 2
    assert slots(app) == [clock.now().isoformat()] * 2
    assert Schedules.of(app).get("nightly") == before


def test_the_last_five_jobs_and_the_next_five_slots_are_shown(
    make: Make, clock: ManualClock
) -> None:
    app = make(nightly)
    run(app)
    for _ in range(6):
        clock.advance(seconds=DAY)
        run(app)
    row = Schedules.of(app).get("nightly")
    shape = schedule_shape(app, row)

    assert (row.fired, row.last_jobs[0]) == (6, row.last_job)
    assert [one.job_id for one in shape.last_runs] == list(row.last_jobs)
    newest = [job.id for job in app.insight.page(limit=5).rows]
    assert list(row.last_jobs) == newest
    assert shape.next[0] == row.next_at
    assert {after - before for before, after in pairwise(shape.next)} == {timedelta(days=1)}
    assert len(shape.next) == 5


def test_the_locks_have_the_names_of_the_seed(make: Make, clock: ManualClock) -> None:
    app, held = make(partial(nightly, name="invoiceReminders")), list[str]()
    run(app)
    clock.advance(seconds=DAY)
    app.signals.subscribe(lambda *_: held.append("fired"), "schedule.fired")
    lock = app.store.locks.acquire("worker:scheduler:invoiceReminders", "other", 60)
    assert lock is not None

    assert run(app) == 0
    app.store.locks.release(lock)
    assert run(app) == 1
    assert app.store.locks.list() == []


Call = Callable[[Tenure], object]
BAD: list[tuple[Call, str]] = [
    (lambda app: Schedules.of(app).cron("99 * * * *"), "cron '99 .*minute hour day"),
    (lambda app: Schedules.of(app).cron("@daily", zone="Mars/Base"), "zone 'Mars/Base' .*IANA"),
    (lambda app: Schedules.of(app).every(), "every must be from 1 second.*minutes="),
    (lambda app: Schedules.of(app).every(minutes=-1), "every must be"),
    (lambda app: Schedules.of(app).cron("@daily", catch_up="some"), "none, last, all"),
    (lambda app: Schedules.of(app).cron("@daily", limit=0), "limit must be .* 1 to 1000"),
    (lambda app: Schedules.of(app).cron("@daily", payload=[1]), "payload must be an object"),  # type: ignore[arg-type]
    (lambda app: Schedules.of(app).cron("@daily", often=1), "no option 'often'"),  # type: ignore[call-arg]
    (lambda app: Schedules.of(app).cron("@daily", tenant="a\n"), "tenant"),
    (lambda app: nightly(app, name=""), "schedule cannot be empty"),
    (lambda app: nightly(app, name="n" * 101), "at most 100"),
]


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
@pytest.mark.parametrize(("call", "words"), BAD)
def test_a_wrong_declaration_is_refused_at_the_call(make: Make, call: Call, words: str) -> None:
    with pytest.raises(OptionError, match=words):
        call(make())


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
def test_a_schedule_stands_above_a_handler(make: Make) -> None:
    def plain(job: object) -> None: ...

    with pytest.raises(OptionError, match=r"over @app.job\(KIND\)"):
        Schedules.of(make()).cron("0 3 * * *", zone="UTC")(plain)  # type: ignore[type-var]


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
def test_a_name_is_used_once(make: Make) -> None:
    app = make(nightly)

    with pytest.raises(OptionError, match="'nightly' is declared already; give this one name="):
        Schedules.of(app).cron("@daily", slot_as="slot")(app.handlers.require("nightly"))


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
@pytest.mark.parametrize(
    "options", [{"slot_as": None}, {"slot_as": "when"}, {"payload": {"n": "x"}}]
)
def test_arguments_that_do_not_fit_the_handler_are_refused(
    make: Make, options: dict[str, Any]
) -> None:
    with pytest.raises(ArgumentsError):
        make(partial(nightly, **options))


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
def test_a_wrong_edit_changes_nothing(make: Make) -> None:
    app = make(nightly)
    run(app)
    before = Schedules.of(app).get("nightly")
    wrong: list[dict[str, Any]] = [
        {"cron": "x"}, {"zone": "x"}, {"every": 0}, {"catch_up": "x"}, {"limit": 0},
        {"payload": {"no": 1}}, {"payload": {"n": datetime.now(UTC)}}, {"kind": "x"},
        {"cron": "@daily", "every": 60}, {"every": 60, "zone": "x"},
    ]  # fmt: skip

    for changes in wrong:
        with pytest.raises((OptionError, ArgumentsError, PayloadError)):
            Schedules.of(app).edit("nightly", **changes)
    assert Schedules.of(app).get("nightly") == before


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
def test_an_unknown_schedule_is_an_error(make: Make) -> None:
    with pytest.raises(ScheduleNotFound, match="no schedule 'x'"):
        Schedules.of(make()).pause("x")


def test_handlers_without_an_app_bring_their_schedules(make: Make, clock: ManualClock) -> None:
    jobs = Jobs()

    @scheduled(cron="0 6 * * *", name="morning")
    @scheduled(every=HOUR, payload={"n": 2})
    @jobs.job("reports.hourly", queue="reports")
    async def hourly(job: RunningJob, n: int = 0) -> None: ...

    first, second = make(lambda app: app.include(jobs)), make(lambda app: app.include(jobs))
    run(first)
    clock.advance(seconds=3_600)

    assert run(second) == 1
    assert [row.name for row in Schedules.of(first).list()] == ["morning", "reports.hourly"]
    [job] = first.insight.stream(JobFilter())
    assert (job.queue, first.get(job.id).payload) == ("reports", {"n": 2})


def test_an_app_may_schedule_a_handler_that_it_includes(make: Make) -> None:
    jobs, app = Jobs(), make()

    @jobs.job("mail.poll")
    async def poll(job: RunningJob) -> None: ...

    with pytest.raises(OptionError, match=r"'mail\.poll' is not included in this app"):
        Schedules.of(app).every(minutes=5)(poll)
    app.include(jobs)
    assert Schedules.of(app).every(minutes=5)(poll) is poll
    assert list(Schedules.of(app).declared) == ["mail.poll"]


def test_a_schedule_of_a_library_is_checked_where_it_is_written(make: Make) -> None:
    app = make()

    with pytest.raises(OptionError, match="cron"):
        scheduled(cron="61 * * * *")
    with pytest.raises(OptionError, match="not both"):
        scheduled(cron="@daily", every=60)
    with pytest.raises(OptionError, match=r"over @jobs\.job"):
        scheduled(every=60)(app.job("x")(lambda job: None))  # type: ignore[type-var]
