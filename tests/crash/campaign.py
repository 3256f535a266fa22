"""A campaign: many jobs, a fleet of workers, and every hazard of `hazards.py` let loose on them.

It only makes things happen and keeps the marks; `verdict.py` judges what is left.
"""

from __future__ import annotations

import random
import signal
import time
from collections import Counter
from dataclasses import dataclass, field, fields

from tenure import JobRef, Tenure
from tenure.core.job import FINAL_STATES, NewJob
from tenure.core.rules.run_again import MAX_REFUNDS
from tests.crash.looking import is_locked
from tests.crash.marks import Mark, Marks
from tests.crash.programs import LEASE_SECONDS, Programs

PLENTY = 60
POISON_ATTEMPTS = 3
SPARED = MAX_REFUNDS + 1
"""A job that kills its worker is convicted only where it ran apart; before that it is spared, once
for each crash that may have been another's doing, and once where it was claimed ahead.
"""
OUTSIDE = ("hazard.outside.thread", "hazard.outside.async")
NOTHING: dict[str, object] = {}
MOMENTS = ("before", "within", "after")
PAUSED_AT_ONCE = 2
HELD_AT_ONCE = 3  # with those that wait for their pause: one of four must be left to take over
PAUSES_TRIED = 6
BREATH_SECONDS = 0.3
STALL_SECONDS = 8 * LEASE_SECONDS
LOOK_SECONDS = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How many jobs of each sort, and over how many seconds the ordinary ones are spread."""

    work: int
    inside: int
    outside: int
    pauses: int
    poison: int
    spread_seconds: float
    limit_seconds: float

    @property
    def jobs(self) -> int:
        """All of them."""
        return self.work + self.inside + self.outside + self.pauses + self.poison

    def times(self, factor: int) -> Plan:
        """So much more of everything."""
        return Plan(**{one.name: getattr(self, one.name) * factor for one in fields(self)})


@dataclass(slots=True)
class Pause:
    """A run that is to be paused past its lease: how often that was tried, and since when."""

    run: Mark
    tried: int = 0
    since: float = 0.0
    in_the_way: bool | None = None

    @property
    def pid(self) -> int:
        return int(self.run["by"])


@dataclass(slots=True)
class Campaign:
    """One run. `killed` and `paused` hold the marks of the runs that were hit from outside."""

    app: Tenure
    programs: Programs
    marks: Marks
    plan: Plan
    jobs: list[JobRef] = field(default_factory=list)
    poison: set[str] = field(default_factory=set)
    killed: list[Mark] = field(default_factory=list)
    paused: list[Mark] = field(default_factory=list)
    starts: Counter[str] = field(default_factory=Counter)
    _to_pause: list[Pause] = field(default_factory=list)
    _sleeping: list[Pause] = field(default_factory=list)

    def enqueue(self) -> None:
        """All jobs at once; the ordinary ones come due little by little."""
        new = [*self._ordinary(), *self._hazards()]
        random.Random(7).shuffle(new)
        self.jobs = self.app.enqueue_many(new)
        pairs = zip(self.jobs, new, strict=True)
        self.poison = {ref.id for ref, job in pairs if job.max_attempts == POISON_ATTEMPTS}

    def _ordinary(self) -> list[NewJob]:
        chance = random.Random(11)
        kinds = ("work.async", "work.thread", "effect.async", "effect.thread")
        return [
            self.app.new(
                kinds[number % len(kinds)],
                {"seconds": chance.uniform(0.0, 0.15)},
                delay=chance.uniform(0.0, self.plan.spread_seconds),
                max_attempts=PLENTY,
            )
            for number in range(self.plan.work)
        ]

    def _hazards(self) -> list[NewJob]:
        plan = self.plan
        inside = [_inside(n, MOMENTS[n % 3]) for n in range(plan.inside)]
        outside = [(OUTSIDE[n % 2], NOTHING) for n in range(plan.outside)]
        fates = [*inside, *outside]
        poison = [_inside(n, "before", times=1_000) for n in range(plan.poison)]
        return [
            *(self._hazard(kind, payload, PLENTY) for kind, payload in fates),
            *(self._hazard(kind, payload, POISON_ATTEMPTS) for kind, payload in poison),
            *(self._pause_job(number) for number in range(plan.pauses)),
        ]

    def _hazard(self, kind: str, payload: dict[str, object], attempts: int) -> NewJob:
        return self.app.new(kind, payload, queue="hazard", max_attempts=attempts)

    def _pause_job(self, number: int) -> NewJob:
        """Half of them when it is quiet: SQLite's writer, paused at work, keeps all others out."""
        delay = self.plan.spread_seconds + 1 if number % 2 else 0.0
        return self.app.new("hazard.pause", queue="hazard", max_attempts=PLENTY, delay=delay)

    def run(self) -> None:
        """Until every job is final, or the time is over, or nothing moves any more, or a job
        starts more often than it may.
        """
        deadline = time.monotonic() + self.plan.limit_seconds
        moved, looked = time.monotonic(), 0.0
        while time.monotonic() < min(deadline, moved + STALL_SECONDS):
            pauses = (*self._to_pause, *self._sleeping)
            if self._step() or any(one.tried <= 1 for one in pauses):
                moved = time.monotonic()
            if any(self.starts[job] > POISON_ATTEMPTS + SPARED for job in self.poison):
                return
            if time.monotonic() > looked + LOOK_SECONDS:
                looked = time.monotonic()
                if self._all_final():
                    return
            time.sleep(0.005)

    def _step(self) -> bool:
        """Do to the fleet what the marks ask for; whether anything started."""
        fresh = self.marks.new()
        for one in fresh:
            match one["event"]:
                case "start":
                    self.starts[one["job"]] += 1
                case "kill me":
                    self._kill(one)
                case "pause me":
                    self._to_pause.append(Pause(one))
        self._wake()
        self._pause()
        return any(one["event"] == "start" for one in fresh)

    def _kill(self, run: Mark) -> None:
        if self.programs.signal(run["by"], signal.SIGKILL):
            self.killed.append(run)

    def _pause(self) -> None:
        """One run of a process at a time; one that has just been woken gets some air."""
        while len(self._to_pause) + len(self._sleeping) > HELD_AT_ONCE:
            self._let_go(self._to_pause.pop(0))
        now = time.monotonic()
        for one in list(self._to_pause):
            busy = one.pid in {other.pid for other in self._sleeping}
            if busy or len(self._sleeping) >= PAUSED_AT_ONCE or now < one.since + BREATH_SECONDS:
                continue
            self._to_pause.remove(one)
            if self.programs.signal(one.pid, signal.SIGSTOP):
                self._sleeping.append(Pause(one.run, one.tried + 1, now))

    def _wake(self) -> None:
        """Whoever was overtaken may go on and settle late. One that was not, or that stands in
        everybody's way, is woken for a moment and paused again.
        """
        now = time.monotonic()
        for one in list(self._sleeping):
            overtaken = self.starts[one.run["job"]] > 1
            if one.in_the_way is None:
                one.in_the_way = is_locked(self.app)
            if not (overtaken or one.in_the_way or now > one.since + 3 * LEASE_SECONDS):
                continue
            self._sleeping.remove(one)
            if overtaken:
                self.paused.append(one.run)
                self._let_go(one)
            elif one.tried < PAUSES_TRIED:
                self._to_pause.append(Pause(one.run, one.tried, now))
            else:
                self._let_go(one)
            self.programs.signal(one.pid, signal.SIGCONT)

    def _let_go(self, pause: Pause) -> None:
        """Its handler goes on."""
        self.marks.open_gate(f"paused-{pause.run['job']}")

    def _all_final(self) -> bool:
        counts = self.app.insight.counts()
        return sum(counts.get(state, 0) for state in FINAL_STATES) == len(self.jobs)


def _inside(number: int, moment: str, times: int = 1) -> tuple[str, dict[str, object]]:
    kind = ("hazard.inside.thread", "hazard.inside.async")[number // 3 % 2]
    return kind, {"moment": moment, "times": times}
