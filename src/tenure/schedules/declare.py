"""Schedules in code: checked where they are written, made into rows when a worker starts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ParamSpec, TypedDict

from tenure.codec import encode
from tenure.core.errors import OptionError
from tenure.handlers import Handler
from tenure.options import check_name
from tenure.schedules.cron import SOME_DAY
from tenure.schedules.rows import Rows
from tenure.schedules.schedule import Schedule
from tenure.schedules.terms import Terms, as_stored
from tenure.schedules.timing import following

if TYPE_CHECKING:
    from tenure.engine import Tenure

P = ParamSpec("P")


class ScheduleOptions(TypedDict, total=False):
    """What a declaration may say beside the time."""

    name: str
    payload: dict[str, Any]
    catch_up: str
    limit: int
    slot_as: str | None
    tenant: str


def declares(
    declared: dict[str, Terms], options: ScheduleOptions, times: dict[str, Any]
) -> Callable[[Handler[P]], Handler[P]]:
    """Notes the schedule of a handler. Times are wrong or right before there is one."""
    if unknown := options.keys() - ScheduleOptions.__optional_keys__:
        raise OptionError(f"a schedule has no option {sorted(unknown)[0]!r}")
    given: dict[str, Any] = {**options, **times}
    name = given.pop("name", None)
    check_name("tenant", given.get("tenant", ""))
    Terms(kind="?", **given).checked()

    def declare(handler: Handler[P]) -> Handler[P]:
        if not hasattr(handler, "kind"):
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


def check_payload(app: Tenure, terms: Terms) -> None:
    """It can be stored, and fits the handler where this app has one."""
    payload = encode(terms.arguments(SOME_DAY), app.settings.payload_limit_bytes)
    if (handler := app.handlers.get(terms.kind)) is not None:
        handler.unpack(payload)


def synchronise(app: Tenure, rows: Rows, declared: Mapping[str, Terms]) -> None:
    """What the code declares into rows; what it no longer declares is disabled."""
    own, there = app.settings.app_name, {row.name: row for row in rows.list()}
    foreign = [name for name in declared if name in there and there[name].app not in ("", own)]
    for name, terms in declared.items():
        if name not in there:
            rows.create(_new(app, name, terms))
        if name not in foreign:
            rows.change(name, partial(_declared, app, terms))
    for name, row in there.items():
        if name not in declared and row.enabled and row.app == own:
            rows.change(name, lambda one: replace(one, enabled=False))
            app.signals.emit("schedule.disabled", schedule=name)
    if foreign:
        raise OptionError(
            f"the schedule {foreign[0]!r} belongs to the app {there[foreign[0]].app!r} "
            "(TENURE_APP_NAME); give this one another name='...'"
        )


def _new(app: Tenure, name: str, terms: Terms) -> Schedule:
    next_at = following(terms.timing(), app.store.now())
    return Schedule(name=name, declared=terms, app=app.settings.app_name, next_at=next_at)


def _declared(app: Tenure, terms: Terms, row: Schedule) -> Schedule:
    return row.declare(terms, app.settings.app_name, app.store.now())


def _place(handler: Handler[Any]) -> dict[str, Any]:
    """Where the handler's jobs go; whoever fires the slot may not know the handler."""
    defaults = handler.defaults
    return {name: defaults[name] for name in ("queue", "priority", "max_attempts")}
