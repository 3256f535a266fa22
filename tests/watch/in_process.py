"""An app with a handler that runs in a process: that imports it again by name."""

from __future__ import annotations

from tenure import RunningJob, Tenure

app = Tenure()


@app.job("in.process", runs_in="process")
def in_process(job: RunningJob) -> None:
    job.app.enqueue("from.process")


@app.job("from.process")
def from_process(job: RunningJob) -> None:
    pass


def make() -> Tenure:
    """The same app on the database that the environment names now; its processes see that too."""
    made = Tenure()
    for handler in (in_process, from_process):
        made.job(handler.kind, runs_in="process" if handler is in_process else None)(
            handler.function
        )
    return made
