"""What happens, in words: for each signal the sentences that it is worth."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tenure.core.errors import StoreUnavailable
from tenure.core.job import State
from tenure.core.lease import ClaimedJob
from tenure.core.settlement import SettledRun
from tenure.feature.sentence import Facts, Sentence, Telling
from tenure.watch.text import clip, plural

OUTAGE = "outage"


Say = Callable[[Sentence], None]


def worker_started(facts: Facts) -> Iterator[Sentence]:
    """The slots say what it works on."""
    slots = ", ".join(f"{queue} {count}" for queue, count in facts["slots"].items())
    yield Sentence("info", f"worker {facts['id']} started; slots: {slots}")


def worker_stopping(facts: Facts) -> Iterator[Sentence]:
    """Say how many it waits for."""
    waits = f"waiting for {facts['running']} running" if facts["running"] else "nothing runs"
    yield Sentence("info", f"worker stopping: {waits} (signal again to stop at once)")


def worker_stopped(facts: Facts) -> Iterator[Sentence]:
    """The last line."""
    yield Sentence("info", f"worker {facts['id']} stopped")


def jobs_settled(facts: Facts) -> Iterator[Sentence]:
    """Success is silent, and so is a snooze."""
    for one in facts["batch"]:
        if one.settlement.state is not State.SUCCEEDED:
            yield from job_settled(one)


def jobs_settled_all(facts: Facts) -> Iterator[Sentence]:
    """The same with every success."""
    for one in facts["batch"]:
        if one.settlement.state is State.SUCCEEDED:
            took = "" if one.seconds is None else f" in {one.seconds * 1000:.0f} ms"
            told = {"ms": None if one.seconds is None else round(one.seconds * 1000, 3)}
            text = f"{_name(one.job)} succeeded at attempt {one.job.attempt}{took}"
            yield Sentence("debug", text, job=one.job, facts=told)
        else:
            yield from job_settled(one)


def job_settled(one: SettledRun) -> Iterator[Sentence]:
    """An ending that somebody may want to know of."""
    job, settlement, _ = one
    name, cause = _name(job), _cause(settlement.failure)
    told = {"state": str(settlement.state), "reason": settlement.reason}
    match settlement.state:
        case State.FAILED:
            text = f"{name} failed for good at attempt {job.attempt}{cause}"
            yield Sentence("error", text, job=job, facts=told)
        case State.DEAD:
            text = f"{name} is dead after attempt {job.attempt}{cause}"
            yield Sentence("error", text, job=job, facts=told)
        case State.CANCELED:
            yield Sentence("warning", f"{name} canceled{cause}", job=job, facts=told)
        case State.QUEUED if settlement.entry == "released":
            text = f"{name} given back; another worker will run it"
            yield Sentence("info", text, job=job, facts=told)
        case State.QUEUED if settlement.entry not in ("snoozed", "throttled"):
            seconds = settlement.delay_seconds
            text = f"{name} failed attempt {job.attempt}, to be retried in {seconds:.1f} s{cause}"
            told["retry_in_seconds"] = f"{seconds:.1f}"
            yield Sentence("warning", text, job=job, facts=told)


def job_ended(facts: Facts) -> Iterator[Sentence]:
    """Ended by a claim: abandoned at its last attempt, cancelled or expired."""
    tone = "error" if facts["state"] is State.DEAD else "warning"
    told = {"job_id": facts["id"], "state": str(facts["state"]), "reason": facts["reason"]}
    text = f"job {facts['id']} ended {facts['state']}: {facts['reason']}"
    yield Sentence(tone, text, facts=told)


def settle_refused(facts: Facts) -> Iterator[Sentence]:
    """Too late: somebody else has it."""
    job, fence = facts["job"], facts["fence"]
    name = f"job {facts['id']}" if job is None else _name(job)
    text = f"{name}: its result under fence {fence} arrived too late and was not written"
    yield Sentence("warning", text, job=job)


def lease_lost(facts: Facts) -> Iterator[Sentence]:
    """Another worker may have it."""
    text = f"{_name(facts['job'])}: lease lost (fence {facts['fence']}); this run writes nothing"
    yield Sentence("warning", text, job=facts["job"])


def jobs_recovered(facts: Facts) -> Iterator[Sentence]:
    """Their worker is gone, or cannot reach the database."""
    jobs = facts["jobs"]
    text = f"{jobs:,} {'job' if jobs == 1 else 'jobs'} of a silent worker went back to the queue"
    yield Sentence("warning", text, facts={"jobs": jobs})


def job_overrun(facts: Facts) -> Iterator[Sentence]:
    """A thread cannot be stopped from outside."""
    text = f"{_name(facts['job'])} runs past its timeout; its slot is taken until it ends"
    yield Sentence("warning", text, job=facts["job"])


def store_unavailable(facts: Facts) -> Iterator[Sentence]:
    """Once for each outage."""
    text = f"database unavailable, trying again: {clip(str(facts['error']))}"
    yield Sentence("error", text, OUTAGE)


def wake_failed(facts: Facts) -> Iterator[Sentence]:
    """Jobs start later, but they start."""
    text = f"wake-ups interrupted, polling goes on: {clip(str(facts['error']))}"
    yield Sentence("warning", text, "wake", lasting=True)


def heartbeat_failed(facts: Facts) -> Iterator[Sentence]:
    """Mostly the same outage."""
    if facts["known"]:
        return store_unavailable(facts)
    return trouble({**facts, "step": "heartbeat"})


def trouble(facts: Facts) -> Iterator[Sentence]:
    """The worker's own errors."""
    error = facts["error"]
    if isinstance(error, StoreUnavailable):
        yield from store_unavailable(facts)
        return
    text = clip(f"{facts.get('step', 'settle')} failed: {type(error).__name__}: {error}")
    yield Sentence("error", text, text)


def jobs_lifted(facts: Facts) -> Iterator[Sentence]:
    """A queue's ageing at work."""
    jobs, queue = plural(facts["jobs"], "job"), facts["queue"]
    text = f"{jobs} of the queue {queue} waited {facts['seconds']:g} s: one step of priority up"
    yield Sentence("info", text)


def queue_changed(what: str) -> Telling:
    """By an operator."""

    def tell(facts: Facts) -> Iterator[Sentence]:
        told = {"actor": facts["actor"], "queue": facts["queue"]}
        yield Sentence("info", f"queue {facts['queue']} {what}{_by(facts)}", facts=told)

    return tell


def jobs_moved(facts: Facts) -> Iterator[Sentence]:
    """What an operator did to jobs."""
    told = {"actor": facts["actor"], "move": str(facts["move"]), "jobs": facts["jobs"]}
    text = f"{facts['move']}: {plural(facts['jobs'], 'job')}{_by(facts)}"
    yield Sentence("info", text, facts=told)


def jobs_enqueued(facts: Facts) -> Iterator[Sentence]:
    """By this process."""
    ids = facts["ids"]
    yield Sentence("debug", f"enqueued {plural(len(ids), 'job')}", facts={"job_ids": ids[:20]})


def tick_done(facts: Facts) -> Iterator[Sentence]:
    """Runners that failed; where the database is away, that is the news."""
    for runner in facts["report"].runners:
        failure = runner.failure
        if failure is not None and failure.code == StoreUnavailable.code:
            yield from store_unavailable({"error": failure.message})
        elif failure is not None:
            yield Sentence("error", f"runner {runner.name} failed{_cause(failure)}")


def api_failed(facts: Facts) -> Iterator[Sentence]:
    """A request that ended in an error of ours: the client was told its id and nothing else."""
    error = facts["error"]
    told = {name: facts.get(name) for name in ("method", "path", "request_id", "correlation_id")}
    request = f"{facts['method']} {facts['path'][:100]} failed (request {told['request_id']}"
    text = f"{request}{_place(error)}): {type(error).__name__}: {error}"
    yield Sentence("error", clip(text), facts=told)


def jwks_failed(facts: Facts) -> Iterator[Sentence]:
    """Nobody with a token can be recognised when the last good keys are too old."""
    text = f"cannot fetch the issuer's signing keys: {clip(str(facts['error']))}"
    yield Sentence("error", text, "jwks", facts={"url": facts["url"]})


def caller_refused(facts: Facts) -> Iterator[Sentence]:
    """Once for each sort of credential, however many try."""
    how = facts["how"]
    text = f"a caller was refused ({how}): {clip(facts['reason'])}"
    yield Sentence("warning", text, f"refused {how}")


def orders_released(facts: Facts) -> Iterator[Sentence]:
    """It should not happen, so it is said."""
    keys = plural(facts["keys"], "ordering key")
    text = f"{keys} had stopped: jobs waited with nobody ahead of them; the first of each runs now"
    yield Sentence("warning", text)


def kind_left(facts: Facts) -> Iterator[Sentence]:
    """Once: it stays so until the app is changed."""
    kind, named = facts["kind"], " and ".join(repr(one) for one in facts["features"])
    text = (
        f"this worker leaves {kind!r} jobs to others: the feature {named} follows their endings, "
        "and this app does not include it"
    )
    yield Sentence("warning", text, f"left {kind}")


SENTENCES: dict[str, Telling] = {
    "worker.started": worker_started,
    "worker.stopping": worker_stopping,
    "worker.stopped": worker_stopped,
    "worker.error": trouble,
    "settle.failed": trouble,
    "ending.failed": trouble,
    "kind.left": kind_left,
    "store.unavailable": store_unavailable,
    "wake.failed": wake_failed,
    "heartbeat.failed": heartbeat_failed,
    "lease.lost": lease_lost,
    "jobs.recovered": jobs_recovered,
    "jobs.settled": jobs_settled,
    "job.settle_refused": settle_refused,
    "job.ended": job_ended,
    "job.overrun": job_overrun,
    "jobs.moved": jobs_moved,
    "orders.released": orders_released,
    "queue.paused": queue_changed("paused"),
    "queue.resumed": queue_changed("resumed"),
    "tick.done": tick_done,
    "api.failed": api_failed,
    "jwks.failed": jwks_failed,
    "caller.refused": caller_refused,
}
VERBOSE: dict[str, Telling] = {
    "jobs.settled": jobs_settled_all,
    "jobs.enqueued": jobs_enqueued,
    "jobs.lifted": jobs_lifted,
}
"""Told beside those, or instead of them, where every step is wanted."""


def _place(error: BaseException) -> str:
    """Where it was raised: `, jobs.py:57 in create_job`."""
    frames = traceback.extract_tb(error.__traceback__)[-1:]
    return "".join(f", {Path(one.filename).name}:{one.lineno} in {one.name}" for one in frames)


def _name(job: ClaimedJob) -> str:
    return f"job {job.id} ({job.kind})"


def _by(facts: Facts) -> str:
    return f" by {facts['actor']}" if facts["actor"] else ""


def _cause(failure: Any) -> str:
    return "" if failure is None else f": {clip(f'{failure.type}: {failure.message}')}"
