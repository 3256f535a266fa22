"""What must be true after a campaign, whatever happened in it. Each breach is a sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from tenure import Job, State
from tests.crash.campaign import POISON_ATTEMPTS, SPARED, Campaign
from tests.crash.looking import effects

WITHOUT_EFFECT = ("work.async", "work.thread", "hazard.outside.async")


@dataclass(frozen=True, slots=True)
class Verdict:
    """The breaches, and how many hazards really hit a handler at work."""

    breaches: list[str]
    inside: int
    outside: int
    pauses: int
    refused: int

    @property
    def kills(self) -> int:
        """From inside and outside together."""
        return self.inside + self.outside


def judge(campaign: Campaign) -> Verdict:
    """Read everything back and compare."""
    jobs = {job.id: campaign.app.get(job.id) for job in campaign.app.insight.stream()}
    histories = {
        job.id: {line.fence: line.entry for line in campaign.app.store.jobs.history(job.id)}
        for job in jobs.values()
        if job.fence > 1 or job.state is not State.SUCCEEDED
    }
    breaches = [
        *_ends(campaign, jobs),
        *_attempts(campaign, jobs, histories),
        *_effects(campaign, jobs),
        *_kills(campaign, jobs, histories),
    ]
    return Verdict(
        breaches,
        inside=len(campaign.marks.find("kill")),
        outside=len(campaign.killed),
        pauses=len(campaign.paused),
        refused=len(campaign.marks.find("refused")),
    )


def _ends(campaign: Campaign, jobs: dict[str, Job]) -> Iterator[str]:
    """Every job is final, in the state it must be in, ended once, by the run that held it."""
    for ref in campaign.jobs:
        job = jobs.get(ref.id)
        if job is None:
            yield f"job {ref.id} is lost"
        elif not job.state.final:
            yield f"job {ref.id} is not final: {job.state}"
        elif ref.id in campaign.poison:
            if (job.state, job.reason) != (State.DEAD, "worker_crashed"):
                yield f"poison job {ref.id} ended {job.state}, {job.reason}"
        elif job.state is not State.SUCCEEDED:
            yield f"job {ref.id} ended {job.state}, {job.reason}"
        elif job.result["fence"] != job.fence:
            yield f"job {ref.id} at fence {job.fence} was settled by {job.result['fence']}"
    for job_id, count in _told_endings(campaign).items():
        if count > 1:
            yield f"job {job_id} was ended {count} times"


def _told_endings(campaign: Campaign) -> Counter[str]:
    """How often workers said that a job is final now."""
    told = [
        *campaign.marks.find("job.ended"),
        *campaign.marks.find("job.let_go", settled=True),
        *(one for one in campaign.marks.find("job.settled") if State(one["state"]).final),
    ]
    return Counter(one["job"] for one in told)


def _attempts(
    campaign: Campaign, jobs: dict[str, Job], histories: dict[str, dict[int, str]]
) -> Iterator[str]:
    """No run is doubled, attempts are bounded, and whatever began and did not succeed is told."""
    runs = Counter((one["job"], one["fence"]) for one in campaign.marks.find("start"))
    for (job_id, fence), count in runs.items():
        if count > 1:
            yield f"job {job_id} was started {count} times under fence {fence}"
    for job in jobs.values():
        most = POISON_ATTEMPTS if job.id in campaign.poison else job.max_attempts
        if job.attempt > most or campaign.starts[job.id] > most + SPARED:
            yield f"job {job.id} started {campaign.starts[job.id]} times, {most} + {SPARED} allowed"
        if job.id in campaign.poison and job.state.final and job.attempt != most:
            yield f"poison job {job.id} was buried at attempt {job.attempt} of {most}"
        told = set(histories.get(job.id, {}))
        began = {fence for job_id, fence in runs if job_id == job.id}
        if missing := began - told - ({job.fence} if job.state is State.SUCCEEDED else set()):
            yield f"the history of job {job.id} lacks the runs {sorted(missing)}"


def _effects(campaign: Campaign, jobs: dict[str, Job]) -> Iterator[str]:
    """A row that was written with the end of a job is there once, and of the run that ended it."""
    written: dict[str, list[int]] = {}
    for job_id, fence in effects(campaign.app):
        written.setdefault(str(job_id), []).append(fence)
    for job in jobs.values():
        wanted = job.state is State.SUCCEEDED and job.kind not in WITHOUT_EFFECT
        expected = [job.fence] if wanted else []
        if written.get(job.id, []) != expected:
            yield f"job {job.id} has effects of {written.get(job.id)}, not of {expected}"


def _kills(
    campaign: Campaign, jobs: dict[str, Job], histories: dict[str, dict[int, str]]
) -> Iterator[str]:
    """A run that was killed before its settlement committed is told as a crash, by its fence."""
    inside = [one for one in campaign.marks.find("kill") if one["moment"] != "after"]
    for one in [*inside, *campaign.killed]:
        entry = histories.get(one["job"], {}).get(one["fence"])
        if entry != "crashed":
            yield f"job {one['job']} was killed at fence {one['fence']}, history says {entry}"
    for one in campaign.marks.find("kill", moment="after"):
        job = jobs[one["job"]]
        if (job.state, job.fence) != (State.SUCCEEDED, one["fence"]):
            yield f"job {job.id} had settled, yet it is {job.state} at fence {job.fence}"
