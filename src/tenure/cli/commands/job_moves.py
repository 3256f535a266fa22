"""`tenure jobs retry|cancel|replay|purge`. Each needs ids or a filter."""

from __future__ import annotations

import getpass
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Annotated, Any

import typer

from tenure.app import Tenure
from tenure.cli.kit.durations import plural
from tenure.cli.kit.engines import open_existing
from tenure.cli.kit.errors import PROBLEMS, Refused
from tenure.cli.kit.options import AsJson, Database, DryRun, JobIds, Yes
from tenure.cli.kit.output import show_json
from tenure.cli.kit.progress import progress_bar
from tenure.cli.kit.values import duration
from tenure.core.errors import FilterRequired, JobNotFound, OptionError
from tenure.core.filter import JobFilter
from tenure.core.job import DEAD_LETTERS, FINAL_STATES, OPEN_STATES, State
from tenure.operations.operator import ADVICE
from tenure.stores.contract import Change, Changed, Move

# What a filter without --state means. Succeeded jobs cannot be retried, and dead letters are
# deleted only if somebody names them: they may still be needed.
RETRIED = (*DEAD_LETTERS, State.CANCELED)
PURGED = tuple(state for state in FINAL_STATES if state not in DEAD_LETTERS)
Progress = Callable[[int], None]
OlderThan = Annotated[
    timedelta,
    typer.Option(
        "--older-than",
        metavar="DURATION",
        parser=duration,
        help="Only jobs that ended longer ago than this: 7d, 12h.",
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Consent:
    """The options that decide whether to ask before a change."""

    dry_run: bool
    yes: bool
    as_json: bool

    def ask(self, question: str) -> None:
        """Ask on a terminal. Without a terminal, require --yes."""
        if self.yes:
            return
        if not sys.stdin.isatty():
            raise Refused(
                f"{question} Nothing was changed: there is no terminal to confirm on; "
                "pass --yes to confirm, or --dry-run to count the jobs"
            )
        if not typer.confirm(question, err=True):
            raise Refused("nothing was changed")


def retry(
    where: JobFilter,
    ids: JobIds = None,
    database: Database = None,
    dry_run: DryRun = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Run finished jobs again. By default: failed, dead and canceled ones that match."""
    consent = Consent(dry_run=dry_run, yes=yes, as_json=as_json)
    _move(open_existing(database), _chosen(where, ids, RETRIED, "retry"), Move.RETRY, consent)


def cancel(
    where: JobFilter,
    ids: JobIds = None,
    database: Database = None,
    dry_run: DryRun = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Cancel queued jobs and ask running ones to stop. By default: both, if they match."""
    consent = Consent(dry_run=dry_run, yes=yes, as_json=as_json)
    _move(open_existing(database), _chosen(where, ids, OPEN_STATES, "cancel"), Move.CANCEL, consent)


def replay(
    where: JobFilter,
    database: Database = None,
    dry_run: DryRun = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Run dead letters again: the failed and dead jobs that match the filter."""
    if set(where.states or ()) - set(DEAD_LETTERS):
        raise OptionError(
            "jobs replay takes failed and dead jobs only; use jobs retry for other states"
        )
    consent = Consent(dry_run=dry_run, yes=yes, as_json=as_json)
    _move(
        open_existing(database), _chosen(where, None, DEAD_LETTERS, "replay"), Move.RETRY, consent
    )


def purge(
    where: JobFilter,
    older_than: OlderThan,
    ids: JobIds = None,
    database: Database = None,
    dry_run: DryRun = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Delete finished jobs. Failed and dead ones are kept unless --state names them."""
    if set(where.states or ()) & set(OPEN_STATES):
        raise OptionError(
            "jobs purge deletes finished jobs only; cancel queued and running ones first"
        )
    engine = open_existing(database)
    before = engine.store.now() - older_than
    where = replace(where, states=where.states or PURGED, ids=tuple(ids) if ids else None)
    count = engine.operator.preview(replace(where, finished_before=before))
    consent = Consent(dry_run=dry_run, yes=yes, as_json=as_json)
    if _preview("purge", count, consent):
        return
    consent.ask(f"Delete {plural(count, 'finished job')}?")
    with progress_bar("purge", count) as progress:
        removed = engine.operator.purge(where, before, actor=actor(), watch=progress)
    if as_json:
        show_json({"matched": count, "removed": removed})
    else:
        typer.echo(f"deleted {plural(removed, 'job')}")


def actor() -> str:
    """The name that histories and the audit log show: `cli:` and the system user."""
    try:
        return f"cli:{getpass.getuser()}"
    except (KeyError, OSError):  # a container may run under a user id without a name
        return "cli"


def noted(engine: Tenure, action: str, target: str, **facts: Any) -> None:
    """Write an audit entry in the name of the system user."""
    engine.operator.audit.note(actor(), action, target, **facts)


def _chosen(
    where: JobFilter, ids: list[str] | None, states: tuple[State, ...], verb: str
) -> JobFilter:
    """Ids are taken in any state, so that each refusal is reported. A filter gets `states`."""
    if ids:
        return replace(where, ids=tuple(ids))
    if where.empty:
        raise FilterRequired(f"jobs {verb}")
    return where if where.states is not None else replace(where, states=states)


def _move(engine: Tenure, where: JobFilter, move: Move, consent: Consent) -> None:
    _check_known(engine, where)
    count = engine.operator.preview(where)
    if _preview(move, count, consent):
        return
    # Ids are typed on purpose; a filter may match more than its author thinks.
    if where.ids is None:
        consent.ask(f"{move.capitalize()} {plural(count, 'job')}?")
    with progress_bar(move, count) as progress:
        done = engine.operator.move_all(
            where, Change(move=move, actor=actor()), watch=lambda total: progress(total.matched)
        )
    _report(move, done, consent)
    if where.ids is not None and done.changed < done.matched:
        raise typer.Exit(PROBLEMS)


def _check_known(engine: Tenure, where: JobFilter) -> None:
    """Raise JobNotFound for an unknown id before anything is changed."""
    if where.ids is not None:
        there = {job.id for job in engine.insight.stream(JobFilter(ids=where.ids))}
        if missing := [job_id for job_id in where.ids if job_id not in there]:
            raise JobNotFound(missing[0])


def _preview(verb: str, count: int, consent: Consent) -> bool:
    """Report a dry run or an empty match; True if the command is done."""
    if not consent.dry_run and count:
        return False
    if consent.as_json:
        show_json({"matched": count, "changed": 0, "dryRun": consent.dry_run})
    elif consent.dry_run:
        typer.echo(f"would {verb} {plural(count, 'job')}; nothing was changed")
    else:
        typer.echo("no jobs match; nothing was changed")
    return True


def _report(move: Move, done: Changed, consent: Consent) -> None:
    refused = done.matched - done.changed
    if consent.as_json:
        show_json(
            {
                "matched": done.matched,
                "changed": done.changed,
                "refused": refused,
                "refusedIds": list(done.refused),
            }
        )
        return
    typer.echo(f"changed {plural(done.changed, 'job')}, refused {refused:,}")
    if refused:
        typer.echo(f"refused: {', '.join(done.refused)} ({ADVICE[move]})")
