"""Whether a worker's memory stays where it is."""

from __future__ import annotations

from bench.app import fill, make_app
from bench.children import child
from bench.databases import calm, fresh, postgres_server
from bench.drains import NOOP_SLOTS, timed_drain
from bench.figures.scale import Scale
from bench.meters import rss_mebibytes
from bench.result import Result, at_most

FIRST = 20_000
ALL = 200_000


def memory(scale: Scale) -> Result:
    """Resident memory of one worker process after 20,000 and after 200,000 jobs, PostgreSQL."""
    with postgres_server() as server, fresh(server) as url:
        app = make_app(url)
        app.store.now()
        with child("bench.worker", url, NOOP_SLOTS) as worker:
            worker.ask("warm")
            rss = [rss_mebibytes(worker.pid)]
            for jobs in (scale.rows(FIRST), scale.rows(ALL) - scale.rows(FIRST)):
                fill(app, "noop", jobs)
                calm(url)
                reading = timed_drain([worker], server.process.pid, jobs)
                rss.append(rss_mebibytes(worker.pid))
                print(f"  after {jobs:,} more jobs: {rss[-1]:.1f} MiB")
        app.close()
    idle, first, last = rss
    return Result(
        bench="memory",
        value=last,
        unit="MiB",
        reference=first,
        ratio=last / first,
        cpu_us=reading.worker_us,
        server_us=reading.server_us,
        checks=[
            at_most("MiB after 20,000", first, 70),
            at_most("MiB after 200,000", last, 70),
            at_most("MiB more after the second", last - first, 5),
        ],
        notes=[f"{idle:.1f} MiB before the first job"],
    )
