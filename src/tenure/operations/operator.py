"""Operator moves: cancel, retry, replay, purge, pause. Moves over many jobs need a filter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from tenure.core.endings import FeatureNeeded
from tenure.core.errors import FilterRequired, JobNotFound, MoveRefused
from tenure.core.filter import JobFilter, summary
from tenure.core.job import DEAD_LETTERS, Job
from tenure.core.scope import EVERYTHING, Scope
from tenure.core.signals import Signals
from tenure.jobs.options import check_name
from tenure.operations.audit import Audit
from tenure.operations.pauses import check_reason, forget_reason, give_reason
from tenure.operations.worker_stops import ask_to_stop
from tenure.stores.contract import Change, Changed, Move, Store

REFUSALS_SHOWN = 100
Watcher = Callable[[Changed], None]

ADVICE = {
    Move.RETRY: "a running job is left alone, a succeeded one is not run again, and a key that "
    "another open job holds stays with that one",
    Move.CANCEL: "it has already ended",
    Move.REPRIORITISE: "only a waiting job has a priority to change",
}


class Operator:
    """Moves jobs in bounded chunks. Every move is written to the histories of the jobs."""

    def __init__(
        self, store: Store, signals: Signals, load_features: Callable[[], None] = lambda: None
    ) -> None:
        self._store = store
        self._load_features = load_features
        self._signals = signals
        self.audit = Audit(store, signals)

    def move(self, job_id: str, change: Change, scope: Scope = EVERYTHING) -> Job:
        """Move one job of the scope. Raises MoveRefused if its state does not allow it."""
        before = self._store.jobs.get(job_id)
        mine = scope.narrow(JobFilter(ids=(job_id,)))
        if before is None or mine is None or not scope.has(before):
            raise JobNotFound(job_id)
        done = self._change(mine, change)
        if not done.changed:
            raise MoveRefused(job_id, change.move, before.state, ADVICE[change.move])
        self._signals.emit("jobs.moved", move=change.move, actor=change.actor, jobs=1)
        if change.move is Move.CANCEL:
            self._store.wakeups.ended_jobs.announce([job_id])
        return self._store.jobs.get(job_id) or before

    def move_all(
        self,
        where: JobFilter,
        change: Change,
        *,
        watch: Watcher | None = None,
        start: Changed | None = None,
    ) -> Changed:
        """Move every job that matches, in chunks. `watch` is called with the running total, whose
        `next` is where to go on: pass it as `start` to resume a move that was interrupted.
        """
        if where.empty:
            raise FilterRequired(change.move)
        total = start or Changed()
        while True:
            total = _sum(total, self._change(where, change, total.next))
            if watch is not None:
                watch(total)
            if total.next is None:
                break
        self._signals.emit("jobs.moved", move=change.move, actor=change.actor, jobs=total.changed)
        self.audit.note(change.actor, f"jobs.{change.move}", summary(where), jobs=total.changed)
        return total

    def _change(self, where: JobFilter, change: Change, after: str | None = None) -> Changed:
        """One chunk. The feature that follows a job may be installed and not loaded yet."""
        try:
            return self._store.jobs.change(where, change, after)
        except FeatureNeeded:
            self._load_features()
        return self._store.jobs.change(where, change, after)

    def replay(
        self, where: JobFilter, *, actor: str = "operator", watch: Watcher | None = None
    ) -> Changed:
        """Restart the failed and dead jobs that match. `preview` counts them first."""
        if where.empty:
            raise FilterRequired("replay")
        return self.move_all(dead_letters(where), Change(move=Move.RETRY, actor=actor), watch=watch)

    def preview(self, where: JobFilter) -> int:
        """How many jobs match now."""
        return sum(self._store.jobs.count(where).values())

    def purge(
        self,
        where: JobFilter,
        before: datetime,
        *,
        actor: str = "operator",
        watch: Callable[[int], None] | None = None,
    ) -> int:
        """Remove finished jobs older than `before`; failed and dead ones only where named.

        Raises FeatureNeeded at the end if some stay that a feature follows which is missing here.
        """
        self._load_features()
        total, after, left = 0, None, frozenset[str]()
        while True:
            part = self._store.jobs.purge(where, before, after=after)
            total += part.removed
            left |= part.left
            if watch is not None:
                watch(total)
            after = part.next
            if after is None:
                break
        self._signals.emit("jobs.purged", jobs=total)
        self.audit.note(actor, "jobs.purge", summary(where), jobs=total, before=before.isoformat())
        if left:
            raise FeatureNeeded(min(left))
        return total

    def pause(self, queue: str, actor: str = "operator", *, reason: str | None = None) -> None:
        """No worker starts a job of this queue until it is resumed. `jobs why` shows the reason."""
        check_name("queue", queue)
        check_reason(reason)
        self._store.queues.pause(queue, actor)
        give_reason(self._store, queue, reason)
        self._signals.emit("queue.paused", queue=queue, actor=actor)
        facts = {} if reason is None else {"reason": reason}
        self.audit.note(actor, "queue.paused", queue, **facts)

    def resume(self, queue: str, actor: str = "operator") -> None:
        """Let workers start jobs of this queue again."""
        check_name("queue", queue)
        self._store.queues.resume(queue, actor)
        forget_reason(self._store, queue)
        self._signals.emit("queue.resumed", queue=queue, actor=actor)
        self.audit.note(actor, "queue.resumed", queue)

    def stop_worker(self, worker_id: str, actor: str = "operator") -> bool:
        """Ask a worker to stop: within 15 s it starts nothing new, finishes what runs, and ends.
        False if there is no such worker.
        """
        found = ask_to_stop(self._store, worker_id, actor)
        if found:
            self.audit.note(actor, "worker.stop", worker_id)
        return found


def dead_letters(where: JobFilter) -> JobFilter:
    """The filter over failed and dead jobs, unless it names states itself."""
    return where if where.states is not None else replace(where, states=DEAD_LETTERS)


def _sum(total: Changed, part: Changed) -> Changed:
    refused = [*total.refused, *part.refused][:REFUSALS_SHOWN]
    return Changed(
        matched=total.matched + part.matched,
        changed=total.changed + part.changed,
        refused=refused,
        next=part.next,
    )
