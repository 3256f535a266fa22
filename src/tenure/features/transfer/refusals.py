"""Checks before anything is moved. Each refusal says what to do."""

from __future__ import annotations

from tenure.core.errors import TransferRefused
from tenure.features.transfer.end import End
from tenure.operations.insight import WORKER_SILENT_SECONDS, WORKERS
from tenure.stores.sql import closed_database as closing
from tenure.stores.sql.statement import Statement

MICROS = 1_000_000
SHOWN = 5


def check_schemas(source: End, target: End, *, complete: bool) -> None:
    """Both must be at this code's version: what it does not know it cannot move. A target that is
    behind is brought up to it where it is empty, unless it should be `complete` already.
    """
    for end, name in ((source, "source"), (target, "target")):
        have, known = end.version, end.migrations.latest
        if have > known:
            raise TransferRefused(
                f"the schema of the {name} is at version {have}, newer than this code, which "
                f"knows {known}: upgrade tenure here, then move"
            )
        if have < known and (complete or end is source):
            raise TransferRefused(
                f"the schema of the {name} is at version {have} and this code needs {known}; "
                f"run: tenure migrate --database {end.address}"
            )
    check_features(source)


def check_features(source: End) -> None:
    """Every feature whose tables the source has must be installed here, in the same version."""
    if unknown := sorted(set(source.features) - source.schemas.packages.keys()):
        raise TransferRefused(
            f"the source has tables of the feature {unknown[0]!r}, which is not installed here: "
            "install it, then move"
        )
    for migrations in source.schemas:
        have, known = migrations.status(source.connection)[0], migrations.latest
        if migrations.feature in source.features and have != known:
            raise TransferRefused(
                f"the tables of the feature {migrations.feature!r} are at version {have} in the "
                f"source, and the feature installed here is at {known}; "
                + ("upgrade it" if have > known else "run: tenure migrate")
            )


def check_marks(source: End, target: End, filling: str) -> None:
    """Whose half-filled target this is, and whether the source has been moved before."""
    away, into = source.mark, target.mark
    if into is not None and into != filling:
        raise TransferRefused(
            "the target was moved away itself; it may not be filled again"
            if into.startswith(closing.MOVED)
            else "the target holds a part of another database, whose move was stopped: finish that "
            "one, or drop the target and create it anew"
        )
    if away is not None and not (away.startswith(closing.MOVED) and into == filling):
        raise TransferRefused(
            f"the source was {away} already; to use it again: tenure move --reopen URL"
            if away.startswith(closing.MOVED)
            else "the source holds only a part of another database: finish that move first"
        )


def check_empty(target: End) -> None:
    """Refuse a target that has rows: they belong to somebody."""
    if found := target.counts():
        told = ", ".join(f"{name} {count:,}" for name, count in found.items())
        raise TransferRefused(
            f"the target is not empty ({told}); name an empty database, or add to what is there "
            "with --into-existing"
        )


def check_workers(source: End) -> None:
    """Refuse a source with live workers."""
    if alive := workers_alive(source):
        raise refused_for(alive)


def workers_alive(source: End) -> list[str]:
    """The workers of the source that reported within the last minute."""
    database, connection = source.database, source.connection
    [(now,)] = database.execute(connection, Statement("store_now"))
    values = {"collection": WORKERS, "after": "", "limit": 10_000}
    found = database.execute(connection, Statement("list_records", values))
    silent = WORKER_SILENT_SECONDS * MICROS
    return [str(name) for _, name, _, _, seen_at in found if now - seen_at < silent]


def refused_for(alive: list[str]) -> TransferRefused:
    """The error that says how to stop them."""
    more = f" and {len(alive) - SHOWN} more" if len(alive) > SHOWN else ""
    return TransferRefused(
        f"{len(alive)} at work on the source: {', '.join(alive[:SHOWN])}{more}. Stop them with "
        "SIGTERM (they end or release what they run); one that was killed counts as alive for a "
        "minute. Or wait for them: --wait 2m"
    )
