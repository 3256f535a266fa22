"""What happens in the demo: enqueue, watch, kill a worker at work, name what it left behind."""

from __future__ import annotations

import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from tenure import Job, JobFilter, NewJob, State, Tenure
from tenure.cli.up.sample_app import broken, flaky, mail, report

LEASE_SECONDS = 2
KILL_AT = 0.35
RATE_SECONDS = 2.0
SLOW_SLOTS = 8
NAMED = 8
SLOW_TOTAL_SECONDS = 4.0


@dataclass(slots=True)
class DemoWorker:
    """A worker process of the demo."""

    number: int
    process: subprocess.Popen[bytes]
    id: str = ""
    running: int = 0
    killed: bool = False

    @property
    def pid(self) -> int:
        """As the system names it."""
        return self.process.pid


@dataclass(slots=True)
class Lost:
    """A job that the killed worker was running."""

    job: Job
    by: DemoWorker
    taken_by: str = ""


@dataclass(slots=True)
class Story:
    """All that the view shows; `look` reads it anew."""

    engine: Tenure
    workers: list[DemoWorker]
    total: int
    jobs: list[Job] = field(default_factory=list)
    lost: list[Lost] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    done_at: list[tuple[float, int]] = field(default_factory=list)
    begun: float = field(default_factory=time.monotonic)

    def begin(self) -> None:
        """Enqueue everything at once."""
        self.engine.enqueue_many(list(plan(self.total)))
        pids = " and ".join(str(one.pid) for one in self.workers)
        self.say(f"{self.total:,} jobs are in the database; workers {pids} start")

    def look(self) -> None:
        """Read all jobs; kill when it is time; see who took up what was lost."""
        self.jobs = list(self.engine.insight.stream())
        now = time.monotonic()
        self.done_at = [at for at in self.done_at if now - at[0] < RATE_SECONDS]
        self.done_at.append((now, self.done))
        self._meet()
        if not self.lost and (victim := self._victim()) is not None:
            self._kill(victim)
        self._recognise()

    @property
    def seconds(self) -> float:
        """Since it began."""
        return time.monotonic() - self.begun

    @property
    def states(self) -> Counter[State]:
        """How many jobs are in each state."""
        return Counter(job.state for job in self.jobs)

    @property
    def done(self) -> int:
        """Final ones."""
        return sum(job.state.final for job in self.jobs)

    @property
    def complete(self) -> bool:
        """Whether all are."""
        return self.done == self.total

    @property
    def rate(self) -> float:
        """Jobs a second, lately."""
        (first, before), (last, after) = self.done_at[0], self.done_at[-1]
        return (after - before) / (last - first) if last > first else 0.0

    @property
    def retried(self) -> int:
        """Jobs that an error sent round again."""
        lost = {one.job.id for one in self.lost}
        return sum(job.attempt > 1 and job.id not in lost for job in self.jobs)

    @property
    def recovered(self) -> list[Lost]:
        """Lost jobs that another worker took up."""
        return [one for one in self.lost if one.taken_by]

    def say(self, sentence: str) -> None:
        """For the view: an event."""
        self.said.append(f"{self.seconds:4.1f} s  {sentence}")

    def _meet(self) -> None:
        """Which worker is which process, and how many jobs each runs now."""
        known = {one.pid: one for one in self.workers}
        if any(not one.id for one in self.workers):
            for view in self.engine.insight.workers():
                if view.pid in known and not known[view.pid].id:
                    known[view.pid].id = view.id
                    self.say(f"worker {known[view.pid].number} (pid {view.pid}) is at work")
        running = Counter(job.lease_owner for job in self.jobs if job.state is State.RUNNING)
        for one in self.workers:
            one.running = running[one.id]

    def _victim(self) -> DemoWorker | None:
        """The busiest, once enough is done and it runs something that takes a while."""
        if self.done < self.total * KILL_AT or any(not one.id for one in self.workers):
            return None
        slow = {job.lease_owner for job in self.jobs if _slow(job)}
        return max(
            (one for one in self.workers if one.id in slow),
            key=lambda one: one.running,
            default=None,
        )

    def _kill(self, victim: DemoWorker) -> None:
        """SIGKILL: no goodbye. What its leases still cover is what it was running."""
        victim.process.kill()
        victim.process.wait()
        victim.killed = True
        held = self.engine.insight.stream(JobFilter(states=(State.QUEUED, State.RUNNING)))
        theirs = (
            job for job in held if job.state is State.RUNNING and job.lease_owner == victim.id
        )
        self.lost = [Lost(job, victim) for job in sorted(theirs, key=lambda job: job.created_at)]
        named = ", ".join(one.job.id for one in self.lost[:NAMED])
        more = f" and {len(self.lost) - NAMED} more" if len(self.lost) > NAMED else ""
        self.say(
            f"worker {victim.number} (pid {victim.pid}) killed while it had jobs {named}{more}"
        )

    def _recognise(self) -> None:
        """A higher fence: somebody else has it now."""
        present = {job.id: job for job in self.jobs}
        numbers = {one.id: f"worker {one.number}" for one in self.workers}
        others = Counter[str]()
        for place, one in enumerate(self.lost):
            job = present[one.job.id]
            if one.taken_by or job.fence <= one.job.fence:
                continue
            one.taken_by = numbers.get(job.lease_owner or "", "another worker")
            if place < NAMED:
                self.say(
                    f"job {job.id} ({job.kind}) taken up again by {one.taken_by}: "
                    f"fence {one.job.fence} → {job.fence}"
                )
            else:
                others[one.taken_by] += 1
        for worker, count in others.items():
            self.say(f"{count} more jobs taken up again by {worker}")


def plan(total: int) -> Iterator[NewJob]:
    """Of ten jobs six are quick, two flaky, one slow; of a hundred three fail for good."""
    seconds = min(2.0, max(0.2, SLOW_TOTAL_SECONDS * SLOW_SLOTS / (total / 10)))
    for number in range(total):
        match number % 10:
            case 1:
                yield report.new(seconds=round(seconds, 2))
            case 3:
                yield flaky.new(succeeds_at=9 if number % 100 == 3 else 2)
            case 5:
                yield flaky.new(succeeds_at=3 if number % 20 == 5 else 1)
            case 7 if number % 30 == 7:
                yield broken.new(address=f"nobody-{number}")
            case _:
                yield mail.new(to=f"reader{number}@example.org")


def _slow(job: Job) -> bool:
    return job.state is State.RUNNING and job.kind == report.kind
