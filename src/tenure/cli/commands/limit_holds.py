"""`tenure limits hold` and `release`: jobs of a key or a kind that must not start for a while."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from tenure.cli.commands.job_moves import noted
from tenure.cli.kit.camel_case import camel
from tenure.cli.kit.engines import open_existing
from tenure.cli.kit.options import AsJson, Database
from tenure.cli.kit.output import show_json, show_table
from tenure.cli.kit.values import DURATION, duration, iso_time
from tenure.core.errors import OptionError
from tenure.core.rules.holds import KeyHold


def hold_end(text: str) -> datetime:
    """An ISO 8601 time with a zone, or a duration from now."""
    if DURATION.match(text.strip().lower()):
        return datetime.now(UTC) + duration(text)
    try:
        return iso_time("--until", text)
    except OptionError as error:
        raise typer.BadParameter(f"{error}; or give a duration from now, such as 5m") from None


Kind = Annotated[str, typer.Argument(metavar="KIND", help="Kind of job.")]
LimitKey = Annotated[
    str | None, typer.Option("--key", metavar="KEY", help="One limit_key within the kind.")
]
Until = Annotated[
    datetime,
    typer.Option(
        "--until",
        metavar="TIME",
        parser=hold_end,
        help="End of the hold: an ISO 8601 time, or 5m for five minutes from now.",
    ),
]
Reason = Annotated[str, typer.Option(metavar="TEXT", help="Reason that `jobs why` shows.")]
Probes = Annotated[
    int,
    typer.Option(
        metavar="N",
        help="Jobs that may start when the time is over. The hold then lasts until it is released.",
    ),
]


def hold(
    kind: Kind,
    until: Until,
    reason: Reason,
    key: LimitKey = None,
    probes: Probes = 0,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Hold a kind, or one key within it: its jobs do not start before the given time."""
    engine = open_existing(database)
    made = engine.limits.hold(kind, key, until, reason, probes=probes)
    noted(engine, "limit.held", kind, key=key, until=made.until.isoformat(), reason=reason)
    if as_json:
        show_json(hold_json(made))
    else:
        typer.echo(f"{_name(kind, key)}: held until {_moment(made)}")


def release(
    kind: Kind, key: LimitKey = None, database: Database = None, as_json: AsJson = False
) -> None:
    """End a hold. The jobs start again within a second."""
    engine = open_existing(database)
    if known := engine.limits.release(kind, key):
        noted(engine, "limit.released", kind, key=key)
    if as_json:
        show_json({"kind": kind, "key": key, "released": known})
    else:
        typer.echo(f"{_name(kind, key)}: {'released' if known else 'no hold was set'}")


def hold_json(one: KeyHold) -> dict[str, Any]:
    """A hold as `--json` prints it."""
    moments = {"since": one.since.isoformat(), "until": one.until.isoformat()}
    return {**camel(one), **moments}


def show_holds(holds: list[KeyHold]) -> None:
    """Holds as a table; nothing if there are none."""
    if holds:
        columns = ("kind", "held", "until", "probes", "reason")
        show_table(columns, [_row(one) for one in holds])


def _row(one: KeyHold) -> tuple[str, str, str, str, str]:
    what = "the kind" if one.key is None else one.key
    return one.kind, what, _moment(one), str(one.probes), one.reason


def _name(kind: str, key: str | None) -> str:
    return kind if key is None else f"{kind} (key {key})"


def _moment(one: KeyHold) -> str:
    return one.until.isoformat(timespec="seconds")
