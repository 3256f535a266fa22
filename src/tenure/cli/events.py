"""What happens in a worker as sentences: the one subscriber that prints."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tenure.cli.words import plural
from tenure.core.errors import StoreUnavailable
from tenure.core.job import State
from tenure.core.signals import Signals

NEW_OUTAGE_SECONDS = 60.0
CLIPPED = 300
Facts = Mapping[str, Any]
Say = Callable[[str, str], None]
"""Takes a tone (`info`, `warning` or `error`) and a sentence."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """What to say. With a subject it is said once, and again only after a time of quiet."""

    tone: str
    text: str
    subject: str | None = None


@dataclass(frozen=True, slots=True)
class Named:
    """A job that runs here, as people call it."""

    name: str
    attempt: int = 0


class Storyteller:
    """Turns signals into sentences; remembers the running jobs' kinds, and what it said lately."""

    def __init__(self, say: Say) -> None:
        self._say = say
        self._running: dict[str, Named] = {}
        self._said: dict[str, float] = {}

    def listen(self, signals: Signals) -> None:
        """From now on."""
        signals.subscribe(self.hear)

    def hear(self, name: str, facts: Facts) -> None:
        """One signal; those without a sentence pass."""
        if name == "job.started":
            self._said.pop(OUTAGE, None)
            named = f"job {facts['id']} ({facts['kind']})"
            self._running[facts["id"]] = Named(named, facts["attempt"])
        elif name in SENTENCES:
            job_id = facts.get("id", "")
            job = self._running.get(job_id, Named(f"job {job_id}"))
            for sentence in SENTENCES[name](facts, job):
                self._tell(sentence)
        if name in ENDINGS:
            self._running.pop(facts["id"], None)

    def _tell(self, sentence: Sentence) -> None:
        if sentence.subject is None:
            self._say(sentence.tone, sentence.text)
            return
        now, last = time.monotonic(), self._said.get(sentence.subject)
        self._said[sentence.subject] = now
        if last is None or now - last >= NEW_OUTAGE_SECONDS:
            self._say(sentence.tone, sentence.text)


def worker_started(facts: Facts, _: Named) -> Iterator[Sentence]:
    """The slots say what it works on."""
    slots = ", ".join(f"{queue} {count}" for queue, count in facts["slots"].items())
    yield Sentence("info", f"worker {facts['id']} started; slots: {slots}")


def worker_stopping(facts: Facts, _: Named) -> Iterator[Sentence]:
    """Say how many it waits for."""
    waits = f"waiting for {facts['running']} running" if facts["running"] else "nothing runs"
    yield Sentence("info", f"worker stopping: {waits} (signal again to stop at once)")


def worker_stopped(facts: Facts, _: Named) -> Iterator[Sentence]:
    """The last line."""
    yield Sentence("info", f"worker {facts['id']} stopped")


def job_settled(facts: Facts, job: Named) -> Iterator[Sentence]:
    """Success is silent, and so is a snooze."""
    cause = _cause(facts.get("failure"))
    match facts["state"]:
        case State.FAILED:
            yield Sentence("error", f"{job.name} failed for good at attempt {job.attempt}{cause}")
        case State.DEAD:
            yield Sentence("error", f"{job.name} is dead after attempt {job.attempt}{cause}")
        case State.CANCELED:
            yield Sentence("warning", f"{job.name} canceled{cause}")
        case State.QUEUED if facts["entry"] == "released":
            yield Sentence("info", f"{job.name} given back; another worker will run it")
        case State.QUEUED if facts["entry"] != "snoozed":
            again = f"to be retried in {facts.get('delay_seconds', 0.0):.1f} s"
            yield Sentence("warning", f"{job.name} failed attempt {job.attempt}, {again}{cause}")


def job_ended(facts: Facts, job: Named) -> Iterator[Sentence]:
    """Ended by a claim: abandoned at its last attempt, cancelled or expired."""
    tone = "error" if facts["state"] is State.DEAD else "warning"
    yield Sentence(tone, f"{job.name} ended {facts['state']}: {facts['reason']}")


def settle_refused(facts: Facts, job: Named) -> Iterator[Sentence]:
    """Too late: somebody else has it."""
    fence = facts["fence"]
    text = f"{job.name}: its ending under fence {fence} came too late and was not written"
    yield Sentence("warning", text)


def lease_lost(facts: Facts, job: Named) -> Iterator[Sentence]:
    """Another worker may have it."""
    text = f"{job.name}: lease lost (fence {facts['fence']}); this run writes nothing"
    yield Sentence("warning", text)


def job_overrun(facts: Facts, job: Named) -> Iterator[Sentence]:
    """A thread cannot be stopped from outside."""
    yield Sentence("warning", f"{job.name} runs past its timeout; its slot is taken until it ends")


def store_unavailable(facts: Facts, _: Named) -> Iterator[Sentence]:
    """Once for each outage."""
    text = f"database unavailable, trying again: {_clip(str(facts['error']))}"
    yield Sentence("error", text, OUTAGE)


def wake_failed(facts: Facts, _: Named) -> Iterator[Sentence]:
    """Jobs start later, but they start."""
    text = f"wake-ups interrupted, polling goes on: {_clip(str(facts['error']))}"
    yield Sentence("warning", text, "wake")


def heartbeat_failed(facts: Facts, job: Named) -> Iterator[Sentence]:
    """Mostly the same outage."""
    if facts["known"]:
        return store_unavailable(facts, job)
    return trouble({**facts, "step": "heartbeat"}, job)


def trouble(facts: Facts, job: Named) -> Iterator[Sentence]:
    """The worker's own errors."""
    error = facts["error"]
    if isinstance(error, StoreUnavailable):
        yield from store_unavailable(facts, job)
        return
    text = _clip(f"{facts.get('step', 'settle')} failed: {type(error).__name__}: {error}")
    yield Sentence("error", text, text)


def schedule_dropped(facts: Facts, _: Named) -> Iterator[Sentence]:
    """Slots that nobody will run."""
    text = f"schedule {facts['schedule']}: {plural(facts['slots'], 'slot')} left out"
    yield Sentence("warning", f"{text} that passed meanwhile (catch_up={facts['catch_up']})")


def schedule_disabled(facts: Facts, _: Named) -> Iterator[Sentence]:
    """The code has changed."""
    text = f"schedule {facts['schedule']} is disabled: the code does not declare it any more"
    yield Sentence("warning", text)


def tick_done(facts: Facts, _: Named) -> Iterator[Sentence]:
    """Runners that failed."""
    for runner in facts["report"].runners:
        if runner.failure is not None:
            yield Sentence("error", f"runner {runner.name} failed{_cause(runner.failure)}")


OUTAGE = "outage"
ENDINGS = frozenset({"job.settled", "job.settle_refused", "job.let_go"})
SENTENCES: dict[str, Callable[[Facts, Named], Iterator[Sentence]]] = {
    "worker.started": worker_started,
    "worker.stopping": worker_stopping,
    "worker.stopped": worker_stopped,
    "worker.error": trouble,
    "settle.failed": trouble,
    "store.unavailable": store_unavailable,
    "wake.failed": wake_failed,
    "heartbeat.failed": heartbeat_failed,
    "lease.lost": lease_lost,
    "job.settled": job_settled,
    "job.settle_refused": settle_refused,
    "job.ended": job_ended,
    "job.overrun": job_overrun,
    "schedule.dropped": schedule_dropped,
    "schedule.disabled": schedule_disabled,
    "tick.done": tick_done,
}


def line(sentence: str) -> str:
    """With the time of day in front."""
    return f"{datetime.now():%H:%M:%S}  {sentence}"


def _cause(failure: Any) -> str:
    return "" if failure is None else f": {_clip(f'{failure.type}: {failure.message}')}"


def _clip(text: str) -> str:
    """One bounded line."""
    return " ".join(text.split())[:CLIPPED]
