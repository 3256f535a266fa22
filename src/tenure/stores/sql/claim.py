"""Claiming: first what others left behind, then the due jobs, lane by lane, best first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tenure.core.clock import seconds_to_micros
from tenure.core.failure import Failure
from tenure.core.job import State
from tenure.core.lease import Lease, Recovery, recover
from tenure.core.settlement import Settlement
from tenure.core.shares import Lane, by_priority, divide
from tenure.stores.contract import Claim, ClaimRequest
from tenure.stores.sql import rows
from tenure.stores.sql.settle import settle
from tenure.stores.sql.statement import Batch, Plan, Row, Rows, Statement

RECOVERED_AT_ONCE = 100
EXPIRED_AT_ONCE = 100
LANES_AT_ONCE = 512

Ended = list[tuple[str, State, str]]


def claim(request: ClaimRequest) -> Plan[Claim]:
    """Recover, expire, then take: all in one transaction."""
    paused = {row[0] for row in (yield Statement("paused_queues"))}
    slots = {queue: free for queue, free in request.slots.items() if queue not in paused}
    slots = {queue: free for queue, free in slots.items() if free > 0}
    ended: Ended = []
    taken = yield from _recover(request, slots, ended)
    yield from _expire(ended)
    if any(slots.values()) and request.kinds:
        taken += yield from _take_due(request, slots)
    taken.sort(key=lambda row: (row[6], row[17], row[0]))
    large = yield from read_large(row[0] for row in taken if row[5] is None)
    return Claim([rows.claimed(row, large) for row in taken], ended)


def read_large(ids: Iterable[int]) -> Plan[dict[int, str]]:
    """Payloads that live beside their rows."""
    wanted = list(ids)
    if not wanted:
        return {}
    return dict((yield Statement("read_payloads", {"ids": wanted})))


def _recover(request: ClaimRequest, slots: dict[str, int], ended: Ended) -> Plan[Rows]:
    """Jobs whose lease ran out: again at once and without backoff, or buried, or cancelled."""
    overdue = yield Statement(
        "overdue_leases",
        {"kinds": list(request.kinds), "queues": list(slots), "limit": RECOVERED_AT_ONCE},
    )
    fates = [(row, _fate(row)) for row in overdue]
    over = [_burial(row, fate) for row, fate in fates if fate is not Recovery.AGAIN]
    if over:
        yield from settle(over)
        ended += [(end.lease.job_id, end.state, end.reason or "") for end in over]
    again = _within(slots, [row for row, fate in fates if fate is Recovery.AGAIN])
    if not again:
        return []
    lines = [(row[0], row[1], 0, "crashed", None, _crash(row).to_json()) for row in again]
    yield Statement("add_history", batch=Batch(rows.HISTORY_COLUMNS, lines))
    return (
        yield Statement("claim_again", {"ids": [row[0] for row in again], **_lease_values(request)})
    )


def _fate(row: Row) -> Recovery:
    return recover(attempt=row[3], max_attempts=row[4], cancel_requested=bool(row[5]))


def _burial(row: Row, fate: Recovery) -> Settlement:
    canceled = fate is Recovery.CANCEL
    return Settlement(
        lease=Lease(str(row[0]), row[1], row[2]),
        state=State.CANCELED if canceled else State.DEAD,
        entry="crashed",
        reason="canceled" if canceled else "worker_crashed",
        failure=_crash(row),
    )


def _crash(row: Row) -> Failure:
    message = f"{row[2]} stopped renewing its lease during attempt {row[3]}"
    return Failure(type="WorkerCrashed", message=message, code="worker_crashed")


def _within(slots: dict[str, int], overdue: Sequence[Row]) -> list[Row]:
    """As many as there are free slots; `slots` is what remains."""
    fitting: list[Row] = []
    for row in overdue:
        if slots.get(row[6], 0) > 0:
            slots[row[6]] -= 1
            fitting.append(row)
    return fitting


def _expire(ended: Ended) -> Plan[None]:
    expired = yield Statement("expire_jobs", {"limit": EXPIRED_AT_ONCE})
    ended += [(str(row[0]), State.CANCELED, "expired") for row in expired]


def _take_due(request: ClaimRequest, slots: dict[str, int]) -> Plan[Rows]:
    """Look which lanes there are, then take from them level by level until the slots are full."""
    queues = Batch(("queue",), [(queue,) for queue, free in slots.items() if free > 0])
    found = yield Statement("claim_lanes", {"lanes": LANES_AT_ONCE}, queues)
    taken: Rows = []
    for level in by_priority(Lane(*row) for row in found):
        taken += yield from _take_level(request, level, slots)
    return taken


def _take_level(request: ClaimRequest, level: list[Lane], slots: dict[str, int]) -> Plan[Rows]:
    """Shares first; what one lane leaves over goes to the others that had more."""
    taken: Rows = []
    while level and (takes := divide(level, slots, request.turn)):
        batch = Batch(
            ("queue", "priority", "tenant", "take"),
            [(t.lane.queue, t.lane.priority, t.lane.tenant, t.count) for t in takes],
        )
        values = {"kinds": list(request.kinds), **_lease_values(request)}
        got = yield Statement("claim_take", values, batch)
        taken += got
        counts: dict[Lane, int] = {}
        for row in got:
            slots[row[4]] -= 1
            lane = Lane(row[4], row[6], row[7])
            counts[lane] = counts.get(lane, 0) + 1
        asked = {take.lane: take.count for take in takes}
        level = [lane for lane in level if counts.get(lane, 0) == asked.get(lane, 0)]
    return taken


def _lease_values(request: ClaimRequest) -> dict[str, object]:
    return {"owner": request.owner, "lease": seconds_to_micros(request.lease_seconds)}
