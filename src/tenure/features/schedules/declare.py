"""Schedules in code: checked where they are written, made into rows when a worker starts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict, TypeVar, Unpack

from tenure.core.errors import OptionError, UsageError
from tenure.features.schedules.cron import SOME_DAY
from tenure.features.schedules.rows import Rows
from tenure.features.schedules.schedule import Declarer, Schedule
from tenure.features.schedules.terms import Terms, as_stored
from tenure.features.schedules.timing import following
from tenure.jobs.app_protocol import App
from tenure.jobs.codec import encode
from tenure.jobs.declared_jobs import DeclaredHandler
from tenure.jobs.handler import Handler
from tenure.jobs.options import check_name

if TYPE_CHECKING:
    from tenure.app import Tenure

NOTED = "schedules"
H = TypeVar("H", bound=Handler[Any] | DeclaredHandler[Any])
N = TypeVar("N", bound=DeclaredHandler[Any])


class ScheduleOptions(TypedDict, total=False):
    """The options of a declaration beside its time."""

    name: str
    payload: dict[str, Any]
    catch_up: str
    limit: int
    slot_as: str | None
    tenant: str


class Declaration(NamedTuple):
    """A checked schedule without a handler: its name, if one was given, and its terms."""

    name: str | None
    given: dict[str, Any]

    def add(self, handler: Handler[Any], declared: dict[str, Terms]) -> None:
        """Declare it for a handler of an app."""
        own = handler.kind if self.name is None else self.name
        check_name("schedule", own)
        if own in declared:
            raise OptionError(f"a schedule {own!r} is declared already; give this one name='...'")
        terms = Terms(kind=handler.kind, **self.given, **_place(handler))
        check_payload(handler.app, terms)
        declared[own] = as_stored(terms)


def declaration(options: ScheduleOptions, times: dict[str, Any]) -> Declaration:
    """A wrong time or option fails at once."""
    if unknown := options.keys() - ScheduleOptions.__optional_keys__:
        raise OptionError(f"a schedule has no option {sorted(unknown)[0]!r}")
    given: dict[str, Any] = {**options, **times}
    name = given.pop("name", None)
    check_name("tenant", given.get("tenant", ""))
    Terms(kind="?", **given).checked()
    return Declaration(name, given)


def declares(
    app: App, declared: dict[str, Terms], options: ScheduleOptions, times: dict[str, Any]
) -> Callable[[H], H]:
    """A decorator that declares the schedule of a handler of the app."""
    made = declaration(options, times)

    def declare(handler: H) -> H:
        if not isinstance(handler, Handler | DeclaredHandler):
            raise OptionError(
                "a schedule stands above a handler: write @schedules.… over @app.job(KIND)"
            )
        made.add(_of_app(app, handler), declared)
        return handler

    return declare


def _of_app(app: App, handler: Handler[Any] | DeclaredHandler[Any]) -> Handler[Any]:
    if isinstance(handler, Handler):
        return handler
    try:
        return handler.on(app)
    except UsageError:
        raise OptionError(
            f"{handler.kind!r} is not included in this app: call app.include(jobs) first, write "
            "@scheduled(...) over @jobs.job(KIND), or use @app.job(KIND)"
        ) from None


def scheduled(
    *,
    cron: str | None = None,
    every: int | None = None,
    zone: str = "UTC",
    **options: Unpack[ScheduleOptions],
) -> Callable[[N], N]:
    """Declare a schedule for a handler that has no app yet: each app that includes it has one.

    `cron` is an expression in a time zone, `every` an interval in seconds. With an app, use
    `Schedules(app)`.

    >>> from tenure import Jobs
    >>> jobs = Jobs()
    >>> @scheduled(cron="30 2 * * *", zone="Europe/Berlin")
    ... @jobs.job("reports.nightly")
    ... def nightly(job) -> None: ...
    """
    made = declaration(options, {"cron": cron, "every": every, "zone": zone})

    def note(handler: N) -> N:
        if not isinstance(handler, DeclaredHandler):
            raise OptionError(
                "this schedule stands above a handler of a Jobs: write it over @jobs.job(KIND); "
                "for @app.job(KIND) use Schedules(app)"
            )
        handler.notes.setdefault(NOTED, []).append(made)
        return handler

    return note


def adopt(app: App, seen: set[str], declared: dict[str, Terms]) -> None:
    """Declare what handlers of a `Jobs` brought with them, once for each handler."""
    for handler in app.handlers:
        if handler.notes and handler.kind not in seen:
            seen.add(handler.kind)
            for made in handler.notes.get(NOTED, ()):
                made.add(handler, declared)


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
