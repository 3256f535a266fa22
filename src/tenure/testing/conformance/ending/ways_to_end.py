"""Every way in which a job ends: how to get there, and the step that ends it.

Each prepares a job of the kind FOLLOWED and answers its id with an action that ends it. The action
may be repeated after it failed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from tenure.core.filter import JobFilter
from tenure.core.job import NewJob, State
from tenure.core.lease import ClaimedJob
from tenure.core.settlement import Settlement
from tenure.stores.contract import Claim, ClaimRequest, Store
from tenure.testing.conformance.actions import (
    HOUR,
    OOPS,
    add,
    add_job,
    cancel,
    claim,
    claim_alone,
    claim_one,
    retry,
)
from tenure.testing.tempo import Tempo

FOLLOWED = "followed"
BOTH = (FOLLOWED, "work")


class Prepared(NamedTuple):
    """A job, the action that ends it, and the state in which it is before. The action raises if
    the feature fails, or answers the claim that could not end the job.
    """

    job_id: str
    end: Callable[[], Any]
    former: State = State.RUNNING


Way = Callable[[Store, Tempo], Prepared]


def running(store: Store, seconds: float = HOUR, **options: Any) -> ClaimedJob:
    """A followed job that runs."""
    add_job(store, FOLLOWED, **options)
    return claim_one(store, kinds=(FOLLOWED,), seconds=seconds)


def settled(state: State, **options: Any) -> Way:
    """By its holder, as a worker does it one by one."""

    def way(store: Store, tempo: Tempo) -> Prepared:
        job = running(store)
        item = Settlement(lease=job.lease, state=state, **options)
        return Prepared(job.id, lambda: store.jobs.settle([item]))

    return way


def written(*, careful: bool) -> Way:
    """By a worker's batch."""

    def way(store: Store, tempo: Tempo) -> Prepared:
        job = running(store)
        item = Settlement(lease=job.lease, state=State.SUCCEEDED)
        return Prepared(job.id, lambda: store.jobs.exchange([item], [], None, careful=careful))

    return way


def exchanged(store: Store, tempo: Tempo) -> Prepared:
    """By a worker's batch that claims in the same transaction."""
    job = running(store)
    item = Settlement(lease=job.lease, state=State.SUCCEEDED, result="{}")
    request = ClaimRequest(
        owner="worker", kinds=BOTH, slots={"default": 5}, lease_seconds=HOUR, thorough=True
    )
    return Prepared(job.id, lambda: store.jobs.exchange([item], [], request))


def in_transaction(store: Store, tempo: Tempo) -> Prepared:
    """Together with the handler's rows."""
    job = running(store)
    item = Settlement(lease=job.lease, state=State.SUCCEEDED)

    def end() -> None:
        with store.transaction() as tx:
            store.jobs.settle([item], tx=tx)

    return Prepared(job.id, end)


def canceled_while_running(store: Store, tempo: Tempo) -> Prepared:
    """A cancel that was asked for turns a retry into the end."""
    job = running(store)
    cancel(store, job.id)
    item = Settlement(lease=job.lease, state=State.QUEUED, entry="error", failure=OOPS)
    return Prepared(job.id, lambda: store.jobs.settle([item]))


def expired(store: Store, tempo: Tempo) -> Prepared:
    """Not started in time; a claim finds it."""
    job_id = add_job(store, FOLLOWED, expires_seconds=tempo.lease)
    tempo.passes(31)
    return Prepared(job_id, lambda: swept(store), State.QUEUED)


def expired_while_awaited(store: Store, tempo: Tempo) -> Prepared:
    """The same, and another job waits for it."""
    job_id = add_job(store, FOLLOWED, expires_seconds=tempo.lease)
    add_job(store, after=(job_id,))
    tempo.passes(31)
    return Prepared(job_id, lambda: swept(store), State.QUEUED)


def buried(store: Store, tempo: Tempo) -> Prepared:
    """Its last attempt has killed a worker that had it alone."""
    add_job(store, FOLLOWED, max_attempts=1)
    claim_one(store, kinds=(FOLLOWED,), owner="silent", seconds=tempo.lease)
    tempo.passes(31)
    job = claim_alone(store, tempo, FOLLOWED)
    tempo.passes(31)
    return Prepared(job.id, lambda: swept(store))


def canceled_after_a_crash(store: Store, tempo: Tempo) -> Prepared:
    """Asked to stop, and its holder went silent."""
    job = running(store, seconds=tempo.lease)
    cancel(store, job.id)
    tempo.passes(31)
    return Prepared(job.id, lambda: swept(store))


def canceled_while_queued(store: Store, tempo: Tempo) -> Prepared:
    """By an operator."""
    job_id = add_job(store, FOLLOWED)
    return Prepared(job_id, lambda: cancel(store, job_id), State.QUEUED)


def canceled_behind_another(store: Store, tempo: Tempo) -> Prepared:
    """By an operator, while it waits under its ordering key."""
    add_job(store, FOLLOWED, ordering_key="k")
    job_id = add_job(store, FOLLOWED, ordering_key="k")
    return Prepared(job_id, lambda: cancel(store, job_id), State.QUEUED)


def discarded(store: Store, tempo: Tempo) -> Prepared:
    """By an operator, after it failed: one end takes the place of another."""
    job = running(store)
    store.jobs.settle([Settlement(lease=job.lease, state=State.FAILED, entry="failed")])
    return Prepared(job.id, lambda: cancel(store, job.id), State.FAILED)


def called_off(store: Store, tempo: Tempo) -> Prepared:
    """What it waited for failed."""
    first = add_job(store)
    job_id = add_job(store, FOLLOWED, after=(first,))
    item = Settlement(lease=claim_one(store).lease, state=State.FAILED, entry="failed")
    return Prepared(job_id, lambda: store.jobs.settle([item]), State.QUEUED)


def called_off_by_an_operator(store: Store, tempo: Tempo) -> Prepared:
    """What it waited for was cancelled."""
    first = add_job(store)
    job_id = add_job(store, FOLLOWED, after=(first,))
    return Prepared(job_id, lambda: cancel(store, first), State.QUEUED)


def called_off_in_a_row(store: Store, tempo: Tempo) -> Prepared:
    """What it waited for was called off itself."""
    first = add_job(store)
    job_id = add_job(store, FOLLOWED, after=(add_job(store, after=(first,)),))
    return Prepared(job_id, lambda: cancel(store, first), State.QUEUED)


def called_off_after_an_expiry(store: Store, tempo: Tempo) -> Prepared:
    """What it waited for expired, and a feature follows that one too."""
    first = add_job(store, FOLLOWED, expires_seconds=tempo.lease)
    job_id = add_job(store, FOLLOWED, after=(first,))
    tempo.passes(31)
    return Prepared(job_id, lambda: swept(store), State.QUEUED)


def added_too_late(store: Store, tempo: Tempo) -> Prepared:
    """What it waits for has failed already: it ends when it is added."""
    first = add_job(store)
    item = Settlement(lease=claim_one(store).lease, state=State.FAILED, entry="failed")
    store.jobs.settle([item])
    # Its id is known only afterwards: the next one.
    return Prepared("", lambda: add(store, NewJob(FOLLOWED, after=(first,))), State.QUEUED)


def swept(store: Store) -> Claim:
    """A claim that looks everywhere."""
    return claim(store, kinds=BOTH, thorough=True)


def retried_and_ended(store: Store, tempo: Tempo) -> Prepared:
    """A second end, after an operator started the job anew."""
    job = running(store)
    store.jobs.settle([Settlement(lease=job.lease, state=State.FAILED, entry="failed")])
    retry(store, job.id)
    again = claim_one(store, kinds=(FOLLOWED,))
    item = Settlement(lease=again.lease, state=State.SUCCEEDED)
    return Prepared(job.id, lambda: store.jobs.settle([item]))


def purge(store: Store) -> Any:
    """Remove all that has ended."""
    everything = JobFilter(kinds=(FOLLOWED,))
    return store.jobs.purge(everything, store.now().replace(year=store.now().year + 1))


WAYS: dict[str, Way] = {
    "succeeded": settled(State.SUCCEEDED),
    "succeeded with a result": settled(State.SUCCEEDED, result='{"a": 1}'),
    "failed": settled(State.FAILED, entry="failed", reason="x", failure=OOPS),
    "dead": settled(State.DEAD, entry="error", reason="exhausted", failure=OOPS),
    "canceled by its handler": settled(State.CANCELED, entry="canceled", reason="canceled"),
    "not found": settled(State.NOT_FOUND, entry="not_found"),
    "skipped": settled(State.SKIPPED, entry="skipped"),
    "in a worker's batch": written(careful=False),
    "in a careful batch": written(careful=True),
    "in a batch that claims": exchanged,
    "in job.settle()": in_transaction,
    "canceled while running": canceled_while_running,
    "expired": expired,
    "expired, awaited by another": expired_while_awaited,
    "buried after a crash": buried,
    "canceled after a crash": canceled_after_a_crash,
    "canceled while queued": canceled_while_queued,
    "canceled behind another": canceled_behind_another,
    "discarded after it failed": discarded,
    "called off: dependency failed": called_off,
    "called off: dependency canceled": called_off_by_an_operator,
    "called off: two steps away": called_off_in_a_row,
    "called off: dependency expired": called_off_after_an_expiry,
    "added after a failed dependency": added_too_late,
    "ended again after a retry": retried_and_ended,
}
