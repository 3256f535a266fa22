"""Schedules in code: checked where they are written, made into rows when a worker starts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, ParamSpec, TypedDict

from tenure.core.errors import OptionError
from tenure.features.schedules.cron import SOME_DAY
from tenure.features.schedules.rows import Rows
from tenure.features.schedules.schedule import Declarer, Schedule
from tenure.features.schedules.terms import Terms, as_stored
from tenure.features.schedules.timing import following
from tenure.jobs.app_protocol import App
from tenure.jobs.codec import encode
from tenure.jobs.handler import Handler
from tenure.jobs.options import check_name

if TYPE_CHECKING:
    from tenure.app import Tenure

P = ParamSpec("P")


class ScheduleOptions(TypedDict, total=False):
    """The options of a declaration beside its time."""

    name: str
    payload: dict[str, Any]
    catch_up: str
    limit: int
    slot_as: str | None
    tenant: str


def declares(
    declared: dict[str, Terms], options: ScheduleOptions, times: dict[str, Any]
) -> Callable[[Handler[P]], Handler[P]]:
    """A decorator that declares the schedule of a handler. A wrong time fails at once."""
    if unknown := options.keys() - ScheduleOptions.__optional_keys__:
        raise OptionError(f"a schedule has no option {sorted(unknown)[0]!r}")
    given: dict[str, Any] = {**options, **times}
    name = given.pop("name", None)
    check_name("tenant", given.get("tenant", ""))
    Terms(kind="?", **given).checked()

    def declare(handler: Handler[P]) -> Handler[P]:
        if not isinstance(handler, Handler):
            raise OptionError(
                "a schedule stands above a handler: write @app.schedules.… over @app.job(KIND)"
            )
        own = handler.kind if name is None else name
        check_name("schedule", own)
        if own in declared:
            raise OptionError(f"a schedule {own!r} is declared already; give this one name='...'")
        terms = Terms(kind=handler.kind, **given, **_place(handler))
        check_payload(handler.app, terms)
        declared[own] = as_stored(terms)
        return handler

    return declare


def check_payload(app: App, terms: Terms) -> None:
    """Check that the payload can be stored, and fits the handler if this app has one."""
    payload = encode(terms.arguments(SOME_DAY), app.settings.payload_limit_bytes)
    if (handler := app.handlers.get(terms.kind)) is not None:
        handler.unpack(payload)


def synchronise(
    app: Tenure, rows: Rows, declared: Mapping[str, Terms], *, starting: bool
) -> list[Schedule]:
    """What the code declares into rows, as they are afterwards; what no replica declares goes.

    `starting`: for the first time in this process, which may bring new terms.
    """
    by = Declarer(app.settings.app_name, app.settings.app_version)
    there, now = {row.name: row for row in rows.list()}, app.store.now()
    foreign = [name for name in declared if name in there and there[name].app not in ("", by.app)]
    for name, terms in declared.items():
        if name not in there:
            there[name] = rows.create(_new(by, name, terms, now))
        if name not in foreign:
            step = partial(_declared, by, terms, now, starting)
            there[name] = rows.apply(there[name], step)
    for name, row in there.items():
        if name not in declared and row.app == by.app:
            there[name] = rows.apply(row, lambda one: one.miss(now))
            if row.enabled and not there[name].enabled:
                app.signals.emit("schedule.disabled", schedule=name)
    if foreign and starting:
        raise OptionError(
            f"the schedule {foreign[0]!r} belongs to the app {there[foreign[0]].app!r} "
            "(TENURE_APP_NAME); give this one another name='...'"
        )
    return list(there.values())


def _new(by: Declarer, name: str, terms: Terms, now: datetime) -> Schedule:
    next_at = following(terms.timing(), now)
    return Schedule(
        name=name, declared=terms, app=by.app, release=by.release, declared_at=now, next_at=next_at
    )


def _declared(by: Declarer, terms: Terms, now: datetime, starting: bool, row: Schedule) -> Schedule:
    return row.declare(by, terms, now, starting=starting)


def _place(handler: Handler[Any]) -> dict[str, Any]:
    """Where the handler's jobs go; whoever fires the slot may not know the handler."""
    defaults = handler.defaults
    return {name: defaults[name] for name in ("queue", "priority", "max_attempts")}
