"""Decides what becomes of a job whose run has ended: done, run again later, or given up.

Pure: values in, a `Settlement` out. How long to wait before the next run is in `retry.py`; what
happens to the jobs of a worker that died is in `crash_recovery.py`.
"""

from __future__ import annotations

from tenure.core.failure import Failure
from tenure.core.job import State
from tenure.core.lease import ClaimedJob, Lease
from tenure.core.outcome import (
    Cancel,
    Crashed,
    Done,
    Ending,
    Fail,
    NotFound,
    Outcome,
    Raised,
    Released,
    Retry,
    Returned,
    Skip,
    Snooze,
    Throttled,
    TimedOut,
)
from tenure.core.rules.by_class import NO_COUNTS, Bound, Counts, bound_of, counted, entry_of
from tenure.core.rules.retry import Random, RetryPolicy, wait_of
from tenure.core.settlement import WORKER_CRASHED, Settlement, crash_failure

# Bounds that end a job which is given back, or puts itself off, for ever.
MAX_REFUNDS = 10
MAX_SNOOZES = 1_000
SUCCEEDED = State.SUCCEEDED


def decide(
    job: ClaimedJob,
    ending: Ending,
    policy: RetryPolicy,
    random: Random,
    counts: Counts = NO_COUNTS,
) -> Settlement:
    """The settlement of `job`, whose run ended like this, under `policy`.

    `counts` are its earlier failures by class, if `by_class.needs_counts` asks for them.
    """
    if isinstance(ending, Done):  # first, because nearly every run ends like this
        return _done(job.lease, ending.result)
    match ending:
        case Returned() | Released():
            return _give_back(job, ending)
        case Crashed():
            return _crashed(job, ending)
        case Snooze():
            return _snooze(job, ending, counts)
    bound = bound_of(policy, ending)
    if bound is not None and not job.cancel_requested:
        return _by_class(job, ending, bound, counts, random)
    if (ended := _chosen(job, ending)) is not None:
        return ended
    if isinstance(ending, Raised) and policy.permanent(ending.error):
        return _fail(job, Failure.of(ending.error))
    return _again(job, ending, policy, random)


def _chosen(job: ClaimedJob, ending: Ending) -> Settlement | None:
    """An end that the handler chose."""
    match ending:
        case Cancel():
            return _final(job, State.CANCELED, "canceled", ending, reason="canceled")
        case NotFound():
            return _final(job, State.NOT_FOUND, "not_found", ending)
        case Skip():
            return _final(job, State.SKIPPED, "skipped", ending)
        case Fail():
            return _final(job, State.FAILED, "failed", ending, reason=ending.code or "permanent")
        case _:
            return None


def _by_class(
    job: ClaimedJob, ending: Ending, bound: Bound, counts: Counts, random: Random
) -> Settlement:
    """A failure whose class has a bound of its own: again at no attempt, or its own end."""
    count, failure = counted(bound, counts, _failure(ending)[0])
    if bound.reached(count):
        reason = "throttled_too_often" if isinstance(ending, Throttled) else "exhausted"
        dead = Settlement(job.lease, State.DEAD, entry_of(ending), reason=reason)
        return (_chosen(job, ending) or dead)._replace(failure=failure)
    return Settlement(
        lease=job.lease,
        state=State.QUEUED,
        entry=entry_of(ending),
        delay_seconds=bound.delay(ending, count, random),
        failure=failure,
        refund=True,
        snooze=True,
    )


def _done(lease: Lease, result: str | None) -> Settlement:
    """A success. Built from a plain tuple: `Settlement(...)` takes three times as long."""
    fields = (lease, SUCCEEDED, None, 0.0, result, None, None, False, False, False, False)
    return tuple.__new__(Settlement, fields)


def _again(job: ClaimedJob, ending: Ending, policy: RetryPolicy, random: Random) -> Settlement:
    """A failed attempt: queued again after the backoff, or dead if it was the last one."""
    failure, entry = _failure(ending)
    if job.cancel_requested:
        return Settlement(
            lease=job.lease, state=State.CANCELED, entry=entry, reason="canceled", failure=failure
        )
    if job.attempt >= job.max_attempts:
        return Settlement(
            lease=job.lease, state=State.DEAD, entry=entry, reason="exhausted", failure=failure
        )
    asked = ending.delay if isinstance(ending, Retry) else None
    delay = wait_of(policy, job.attempt, random) if asked is None else asked
    return Settlement(
        lease=job.lease, state=State.QUEUED, entry=entry, delay_seconds=delay, failure=failure
    )


def _crashed(job: ClaimedJob, ending: Crashed) -> Settlement:
    """The run had a process of its own, so the crash is charged to this job alone."""
    failure = crash_failure(ending.how)
    if job.cancel_requested:
        state, reason = State.CANCELED, "canceled"
    elif job.attempt >= job.max_attempts:
        state, reason = State.DEAD, WORKER_CRASHED
    else:
        state, reason = State.QUEUED, None
    return Settlement(job.lease, state, "crashed", reason=reason, failure=failure, crash=True)


def _failure(ending: Ending) -> tuple[Failure, str]:
    match ending:
        case Raised(error):
            return Failure.of(error), "error"
        case TimedOut(seconds):
            message = f"ran longer than its limit of {seconds:g} s"
            return Failure(type="Timeout", message=message, code="timeout"), "timeout"
        case Outcome():
            return ending.failure, entry_of(ending)
        case _:
            raise TypeError(f"{ending!r} is not a failure")


def _fail(job: ClaimedJob, failure: Failure) -> Settlement:
    return Settlement(
        lease=job.lease,
        state=State.FAILED,
        entry="failed",
        reason=failure.code or "permanent",
        failure=failure,
    )


def _final(
    job: ClaimedJob, state: State, entry: str, ending: Outcome, reason: str | None = None
) -> Settlement:
    failure = ending.failure if ending.message or state is State.FAILED else None
    return Settlement(lease=job.lease, state=state, entry=entry, reason=reason, failure=failure)


def _snooze(job: ClaimedJob, ending: Snooze, counts: Counts) -> Settlement:
    """Queued again later. Costs no attempt, so the number of snoozes is bounded instead.

    The row counts everything that was put off; what `by_class.py` bounds is no snooze.
    """
    if job.cancel_requested:
        return _final(job, State.CANCELED, "canceled", ending, reason="canceled")
    snoozes = job.snoozes - sum(counts.values())
    if snoozes >= MAX_SNOOZES:
        message = f"snoozed {snoozes} times, which is the limit"
        return _fail(job, Failure(type="Snooze", message=message, code="snoozed_too_often"))
    return Settlement(
        lease=job.lease,
        state=State.QUEUED,
        entry="snoozed",
        delay_seconds=ending.seconds,
        failure=ending.failure if ending.message else None,
        refund=True,
        snooze=True,
    )


def _give_back(job: ClaimedJob, ending: Returned | Released) -> Settlement:
    """A job that never started loses nothing. One that a stopping worker gives back has its
    attempt refunded, a bounded number of times.
    """
    if isinstance(ending, Returned):
        return Settlement(job.lease, State.QUEUED, refund=True, returned=True)
    if job.cancel_requested:
        return Settlement(
            lease=job.lease, state=State.CANCELED, entry="canceled", reason="canceled"
        )
    refund = job.refunds < MAX_REFUNDS
    if not refund and job.attempt >= job.max_attempts:
        return Settlement(
            lease=job.lease, state=State.DEAD, entry="released", reason="released_too_often"
        )
    return Settlement(lease=job.lease, state=State.QUEUED, entry="released", refund=refund)
