"""The jobs that one worker holds a lease on, from the claim to the written settlement."""

from __future__ import annotations

from collections.abc import Iterable

from tenure.core.lease import Lease
from tenure.core.settlement import Settlement
from tenure.worker.running.ending import LOST
from tenure.worker.running.run import Run


class HeldRuns:
    """The event loop adds and forgets; the heartbeat's thread takes snapshots.

    Claiming, settling and the heartbeat all need this record, so each gets it when it is made.
    """

    def __init__(self) -> None:
        self._runs: dict[str, Run] = {}

    def __bool__(self) -> bool:
        return bool(self._runs)

    def add(self, run: Run) -> None:
        """Hold this run. If our earlier lease of the same job ran out, that run is interrupted."""
        job_id = run.claimed.lease.job_id
        earlier = self._runs.get(job_id)
        if earlier is not None:
            earlier.interrupt(LOST)
        self._runs[job_id] = run

    def snapshot(self) -> list[Run]:
        """All of them. Any thread may ask: one call that the interpreter does not interrupt."""
        return list(self._runs.values())

    def forget(self, lease: Lease) -> Run | None:
        """The run under this lease, which is over. A later claim of the same job stays."""
        run = self._runs.get(lease.job_id)
        if run is None or run.claimed.lease.fence != lease.fence:
            return None
        del self._runs[lease.job_id]
        return run

    def forget_all(self, batch: Iterable[Settlement]) -> list[Run | None]:
        """The runs that these settlements have ended, in their order."""
        forget = self.forget
        return [forget(item.lease) for item in batch]
