"""Decides the one reason why a job is not running. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from tenure.core.job import Job, State
from tenure.core.rules.holds import KeyHold
from tenure.core.rules.order import Hold

MOST_AHEAD = 1_000


@dataclass(frozen=True, slots=True)
class Why:
    """A code for programs and a sentence for people."""

    code: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Facts that are needed beside the job itself."""

    now: datetime
    paused_by: str | None = None
    held: KeyHold | None = None
    knows_kind: bool = True
    serves_tenant: bool = True
    workers: int = 0
    ahead: int = 0
    head: tuple[str, State] | None = None
    cap: int | None = None
    running: int = 0


def why(job: Job, facts: Facts) -> Why:
    """The first thing that would have to change."""
    if job.state.final:
        said = f" ({job.reason})" if job.reason else ""
        return Why("ended", f"it has ended: {job.state}{said}")
    if job.reserved:
        return Why(
            "reserved",
            f"it is reserved by {job.lease_owner}: it begins as soon as a slot is free there, or "
            "goes back to the queue",
        )
    if job.state is State.RUNNING:
        return _running(job, facts)
    if job.hold & (Hold.ORDER | Hold.AFTER):
        return _held(job, facts)
    if job.expires_at is not None and job.started_at is None and job.expires_at <= facts.now:
        return Why("expired", "it was not started in time; the next claim calls it off")
    if job.run_at > facts.now:
        return _later(job)
    return _waiting(job, facts)


def _running(job: Job, facts: Facts) -> Why:
    if job.lease_until is not None and job.lease_until < facts.now:
        return Why(
            "lease_over",
            f"its worker {job.lease_owner} went silent; within a second it goes back to its queue",
        )
    asked = " and is asked to stop" if job.cancel_requested else ""
    return Why("running", f"it runs on {job.lease_owner}, attempt {job.attempt}{asked}")


def _held(job: Job, facts: Facts) -> Why:
    if job.hold & Hold.ORDER:
        return _behind(job, facts)
    named = ", ".join(job.waits_for or ())
    return Why("after", f"it waits for jobs that it depends on: {named or 'not read'}")


def _behind(job: Job, facts: Facts) -> Why:
    if facts.head is None:
        return Why("order", f"it is behind another job of its ordering key {job.ordering_key!r}")
    number, state = facts.head
    if state.final:
        return Why(
            "order_blocked",
            f"job {number} of its ordering key {job.ordering_key!r} is {state}: retry or cancel it",
        )
    return Why("order", f"it is behind job {number} of its ordering key {job.ordering_key!r}")


def _later(job: Job) -> Why:
    moment = job.run_at.isoformat(timespec="seconds")
    if job.attempt:
        return Why("backoff", f"attempt {job.attempt} failed; the next one is not before {moment}")
    return Why("run_at", f"it is not to run before {moment}")


def _waiting(job: Job, facts: Facts) -> Why:
    """The job is due: no worker has taken it yet, or it waits for room at its limit."""
    if facts.paused_by is not None:
        return Why("paused", f"the queue {job.queue!r} was paused by {facts.paused_by}")
    if facts.held is not None:
        return _stopped(facts.held, facts.now)
    if not facts.workers:
        return Why("no_worker", "no worker is alive; start one: tenure worker --app MODULE:APP")
    if not facts.knows_kind:
        return Why(
            "unknown_kind",
            f"no live worker takes {job.kind!r} from the queue {job.queue!r}",
        )
    if not facts.serves_tenant:
        return Why(
            "other_shard",
            f"no live worker takes jobs of the tenant {job.tenant!r}: start those of the other "
            "shards (WORKER_TICK_SHARD_INDEX)",
        )
    if job.hold & Hold.LIMIT:
        return Why(
            "limit",
            f"jobs of its kind {job.kind!r}, or of its limit_key, are at their limit: it runs when "
            "one of them has ended or the next may start",
        )
    return _in_line(job, facts)


def _stopped(hold: KeyHold, now: datetime) -> Why:
    """Nobody may start: the hold, until when, and why."""
    what = f"kind {hold.kind!r}" if hold.key is None else f"limit_key {hold.key!r}"
    moment = hold.until.isoformat(timespec="seconds")
    if not hold.probes:
        return Why("held", f"its {what} is held until {moment}: {hold.reason}")
    jobs = "1 job" if hold.probes == 1 else f"{hold.probes:,} jobs"
    when = f"then {jobs} may try" if now < hold.until else f"since then {jobs} may try"
    return Why("held", f"its {what} is held until {moment}, {when}: {hold.reason}")


def _in_line(job: Job, facts: Facts) -> Why:
    """A worker that could take it is alive."""
    if facts.cap is not None and facts.running >= facts.cap:
        return Why("limit", f"{facts.running:,} jobs of the tenant {job.tenant!r} run, its cap")
    if facts.ahead:
        count = f"more than {MOST_AHEAD:,}" if facts.ahead > MOST_AHEAD else f"{facts.ahead:,}"
        return Why("behind", f"it is due; {count} jobs are before it in the queue {job.queue!r}")
    return Why("next", f"it is the next of the queue {job.queue!r}: it waits for a free slot")
