"""What a holder writes: the end of a run, a longer lease, news. Every write carries its fence."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Container, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from tenure.core.job import State
from tenure.core.lease import Lease, Standing
from tenure.core.rules.limits import kind_of
from tenure.core.rules.shares import Lane
from tenure.core.settlement import Settlement
from tenure.core.timing.clock import seconds_to_micros, to_micros
from tenure.stores.contract import Extension, Report
from tenure.stores.sql import rows
from tenure.stores.sql.statement import Batch, Plan, Row, Statement, chunks
from tenure.stores.sql.write import held_jobs as chain

PATIENCE_SECONDS = 0.1
CAREFUL_SECONDS = 0.02
SUCCEEDED = State.SUCCEEDED
LEASE_COLUMNS = ("id", "fence")
PROGRESS_COLUMNS = ("id", "fence", "progress", "note")
BEGUN_COLUMNS = ("id", "fence", "ago", "standing")
LOG_COLUMNS = ("id", "fence", "at", "level", "message")


@dataclass(frozen=True)
class Settled:
    """What was written, by number; the lanes that got a job by it; what others have locked."""

    applied: frozenset[int] = frozenset()
    freed: Sequence[Lane] = ()
    locked: frozenset[int] = frozenset()

    @cached_property
    def ids(self) -> frozenset[str]:
        """As callers know them."""
        return frozenset(map(str, self.applied))


def settle(settlements: Sequence[Settlement]) -> Plan[Settled]:
    """The end of runs, all in one transaction: history, and those who waited for it."""
    returned = yield from _return(settlements)
    applied = set(returned)
    yield from settle_loosely(settlements, None, applied)
    left = left_of(settlements, applied)
    freed: list[Lane] = list(returned.values())
    if left:
        tied = yield from _settle_tied(left)
        applied |= tied.applied
        freed += tied.freed
    yield from _write_history(settlements, applied)
    return Settled(frozenset(applied), freed)


def settle_now(
    settlements: Sequence[Settlement], patience: float, *, careful: bool = False
) -> Plan[Settled]:
    """The same, as far as nobody else's transaction is in the way: what is `locked` is unchanged.

    `careful`: look for locks first. Else a database that cannot pass over a locked row waits for
    it, and gives up the whole transaction.
    """
    wanted = settlements
    if careful:
        ids = sorted(map(_id, settlements))
        free = {row[0] for row in (yield Statement("lock_free", {"ids": ids}))}
        wanted = [item for item in settlements if _id(item) in free]
    returned = yield from _return(wanted)
    applied = set(returned)
    yield from settle_loosely(wanted, patience, applied)
    left = left_of(wanted, applied)
    freed: list[Lane] = list(returned.values())
    if left:
        tied = yield from _settle_tied_now(left, patience)
        applied |= tied.applied
        freed += tied.freed
    yield from _write_history(settlements, applied)
    unsure = [item.lease for item in left_of(settlements, applied)]
    return Settled(frozenset(applied), freed, (yield from _held(unsure)))


def _return(settlements: Sequence[Settlement]) -> Plan[dict[int, Lane]]:
    """Jobs that were claimed and never began, and their lanes: they stand before the floors. What
    is locked, or to be cancelled, is settled like the others.
    """
    asked = sorted((_id(item), item.lease.fence) for item in settlements if item.returned)
    if not asked:
        return {}
    found = yield Statement("return_jobs", batch=Batch(LEASE_COLUMNS, asked))
    yield from _refund([row[4] for row in found if row[4] is not None])
    return {row[0]: Lane(*row[1:4]) for row in found}


def _refund(names: Sequence[str]) -> Plan[None]:
    """The tokens that jobs took at a limit: of its key, where it has one, and of its kind."""
    tokens = Counter(gate for name in names for gate in {name, kind_of(name)})
    if tokens:
        lines = sorted((gate, float(count)) for gate, count in tokens.items())
        yield Statement("refund_gates", batch=Batch(("gate", "tokens"), lines))


def left_of(settlements: Sequence[Settlement], applied: Collection[int]) -> list[Settlement]:
    """What is not written yet; mostly nothing, which the numbers tell."""
    if len(applied) == len(settlements):
        return []
    return [item for item in settlements if _id(item) not in applied]


def settle_free(settlements: Sequence[Settlement]) -> Plan[set[int]]:
    """Jobs that nobody waits for."""
    applied: set[int] = set()
    yield from settle_loosely(settlements, None, applied)
    return applied


def settle_loosely(
    settlements: Sequence[Settlement], patience: float | None, applied: set[int]
) -> Plan[None]:
    """Jobs that nobody waits for, each statement for itself: `applied` is true even where a later
    one fails. Most are successes without a result: their ids say it all.
    """
    plain: dict[int, list[int]] = defaultdict(list)
    others: list[Settlement] = []
    for item in settlements:
        job_id, fence, _ = item.lease
        number = int(job_id)
        if number in applied:
            continue
        if item.state is SUCCEEDED and item.result is None and item.entry is None:
            plain[fence].append(number)
        else:
            others.append(item)
    values, where = _patience(patience)
    for fence, ids in plain.items():
        asked = {"ids": sorted(ids), "fence": fence, **values}
        done = yield Statement("settle_done", asked, where=where)
        applied.update([row[0] for row in done])
    if others:
        yield from _settle_rows(others, applied, tied=0, patience=patience)


def _settle_tied(settlements: Sequence[Settlement]) -> Plan[Settled]:
    """Those whose end somebody waits for; what is stale is refused here too."""
    links = yield from chain.ahead([_id(item) for item in settlements])
    applied: set[int] = set()
    yield from _settle_rows(settlements, applied, tied=1)
    freed = yield from chain.let_go([link for link in links if link.id in applied], applied)
    return Settled(frozenset(applied), freed)


def _settle_tied_now(settlements: Sequence[Settlement], patience: float) -> Plan[Settled]:
    """Of those the ones whose orders and dependents nobody else has locked."""
    links = yield from chain.ahead_now([_id(item) for item in settlements])
    free = {link.id for link in links}
    applied: set[int] = set()
    ready = [item for item in settlements if _id(item) in free]
    if not ready:
        return Settled()
    yield from _settle_rows(ready, applied, tied=1, patience=patience)
    freed = yield from chain.let_go([link for link in links if link.id in applied], applied)
    return Settled(frozenset(applied), freed)


def _settle_rows(
    settlements: Sequence[Settlement],
    applied: set[int],
    *,
    tied: int,
    patience: float | None = None,
) -> Plan[None]:
    values, where = _patience(patience)
    ordered = sorted(settlements, key=_id)
    for part in chunks(ordered, key=lambda item: len(item.result or "")):
        batch = Batch(rows.SETTLE_COLUMNS, [rows.settlement(item) for item in part])
        done = yield Statement("settle_jobs", {"tied": tied, **values}, batch, where)
        applied.update([row[0] for row in done])


def _patience(seconds: float | None) -> tuple[dict[str, str], tuple[str, ...]]:
    """How a statement is told not to wait."""
    if seconds is None:
        return {}, ()
    return {"patience": f"{max(1, round(seconds * 1000))}ms"}, ("now",)


def _write_history(settlements: Sequence[Settlement], applied: Container[int]) -> Plan[None]:
    lines = [_line(item) for item in settlements if item.entry]
    lines = [line for line in lines if line[0] in applied]
    if lines:
        yield Statement("add_history", batch=Batch(rows.HISTORY_COLUMNS, lines))


def _held(leases: Sequence[Lease]) -> Plan[frozenset[int]]:
    """What was not written though it still holds: somebody has it locked. The rest is stale."""
    if not leases:
        return frozenset()
    asked = sorted((int(lease.job_id), lease.fence) for lease in leases)
    held = yield Statement("held_leases", batch=Batch(LEASE_COLUMNS, asked))
    return frozenset(row[0] for row in held)


def _id(item: Settlement) -> int:
    return int(item.lease.job_id)


def _line(item: Settlement) -> Row:
    """The row's attempt is already refunded; the history tells the attempt that ran."""
    failure = None if item.failure is None else item.failure.to_json()
    return (
        int(item.lease.job_id),
        item.lease.fence,
        int(item.refund),
        item.entry,
        None,
        failure,
    )


def extend(leases: Sequence[Lease], seconds: float) -> Plan[Extension]:
    """What the store no longer knows under this fence is lost."""
    if not leases:
        return Extension()
    asked = sorted((int(lease.job_id), lease.fence) for lease in leases)
    held = yield Statement(
        "extend_leases", {"lease": seconds_to_micros(seconds)}, Batch(LEASE_COLUMNS, asked)
    )
    known = {str(row[0]) for row in held}
    lost = frozenset(lease.job_id for lease in leases) - known
    return Extension(lost, frozenset(str(row[0]) for row in held if row[1]))


def report(reports: Sequence[Report]) -> Plan[frozenset[str]]:
    """Progress and lines of those still held; the ids of the others come back.

    What is locked at this moment is passed over: held, but its news are lost.
    """
    refused = yield from _mark_begun([item for item in reports if item.begun_ago is not None])
    reports = [item for item in reports if item.begun_ago is None]
    return refused | (yield from _tell(reports)) if reports else refused


def _tell(reports: Sequence[Report]) -> Plan[frozenset[str]]:
    in_order = sorted(reports, key=lambda item: int(item.lease.job_id))
    news = [(int(r.lease.job_id), r.lease.fence, r.progress, r.note) for r in in_order]
    told = yield Statement("report_progress", batch=Batch(PROGRESS_COLUMNS, news))
    written = {row[0] for row in told}
    lines = [line for item in reports for line in _lines(item) if line[0] in written]
    if lines:
        yield Statement("add_logs", batch=Batch(LOG_COLUMNS, lines))
    left = [item.lease for item in in_order if int(item.lease.job_id) not in written]
    held = yield from _held(left)
    return frozenset(lease.job_id for lease in left if int(lease.job_id) not in held)


def _mark_begun(reports: Sequence[Report]) -> Plan[frozenset[str]]:
    """Jobs that were claimed ahead and are at work now, or suspects that begin alone; the ids of
    those for whom that could not be written. A report says either that or news.
    """
    if not reports:
        return frozenset()
    begun = sorted(map(_begun_row, reports))
    done = yield Statement("mark_begun", batch=Batch(BEGUN_COLUMNS, begun))
    return frozenset(item.lease.job_id for item in reports) - {str(row[0]) for row in done}


def _begun_row(item: Report) -> Row:
    standing = Standing.ALONE if item.alone else Standing.SOUND
    ago = seconds_to_micros(item.begun_ago or 0.0)
    return int(item.lease.job_id), item.lease.fence, ago, int(standing)


def _lines(item: Report) -> Iterator[Row]:
    for line in item.lines:
        at = None if line.at is None else to_micros(line.at)
        yield int(item.lease.job_id), item.lease.fence, at, line.level, line.message
