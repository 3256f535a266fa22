"""Whether producers notice a migration that builds indexes on a million rows."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.app import make_app
from bench.databases import calm, mariadb_server, postgres_server
from bench.figures.scale import Scale
from bench.meters import percentile
from bench.result import Result, at_most
from tenure import Tenure
from tenure.stores.sql.migrations import Migration, Migrations, load, parse
from tenure.stores.sql.store import SqlStore

ROWS = 1_000_000
BEFORE_SECONDS = 15.0
PAUSE_SECONDS = 0.005
LISTS = 4
"""The migration that is measured: it builds two indexes on tenure_jobs."""

DROPS = {
    "sqlite": ("DROP INDEX tenure_jobs_of_tenant", "DROP INDEX tenure_jobs_of_owner"),
    "postgres": ("DROP INDEX tenure_jobs_of_tenant", "DROP INDEX tenure_jobs_of_owner"),
    "mysql": (
        "ALTER TABLE tenure_jobs DROP KEY tenure_jobs_of_tenant, DROP KEY tenure_jobs_of_owner",
    ),
}
SERIES = {
    "sqlite": "WITH RECURSIVE s (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < {0}) {1}",
    "postgres": "WITH s (i) AS (SELECT generate_series(1, {0})) {1}",
    "mysql": "{1}",
}
NAMES = {
    "sqlite": "'tenant-' || (i % 1000), 'user-' || (i % 5000) FROM s",
    "postgres": "'tenant-' || (i % 1000), 'user-' || (i % 5000) FROM s",
    "mysql": "concat('tenant-', seq % 1000), concat('user-', seq % 5000) FROM seq_1_to_{0}",
}
FILL = (
    "INSERT INTO tenure_jobs (kind, queue, priority, state, run_at, attempt, max_attempts, fence, "
    "created_at, started_at, finished_at, bucket, payload, tenant, owner) "
)
FINISHED = "SELECT 'noop', 'default', 2, 2, 1, 1, 5, 1, 1, 1, 1, 0, '{}', "


@dataclass(frozen=True)
class Seen:
    """Milliseconds of enqueue calls, and the seconds that the migration took."""

    before: list[float]
    meanwhile: list[float]
    took: float

    @property
    def p99(self) -> float:
        return percentile(self.before, 0.99)

    @property
    def slowest(self) -> float:
        return max(self.meanwhile)

    @property
    def ratio(self) -> float:
        return self.slowest / self.p99

    def __str__(self) -> str:
        return (
            f"migrated in {self.took:.1f} s; {len(self.meanwhile):,} enqueues meanwhile, the "
            f"slowest {self.slowest:.1f} ms; before p99 {self.p99:.1f}, slowest "
            f"{max(self.before):.1f} ms"
        )


def migrate(scale: Scale) -> Result:
    """The slowest enqueue during a migration against the p99 before it, PostgreSQL and MariaDB."""
    seen: dict[str, Seen] = {}
    for name, url in _databases():
        print(f"  {name}")
        seen[name] = _measure(url, scale)
        print(f"    {seen[name]}")
    barred = {name: each for name, each in seen.items() if name != "SQLite"}
    worst = max(barred.values(), key=lambda each: each.ratio)
    return Result(
        bench="migrate",
        value=worst.slowest,
        unit="ms",
        reference=worst.p99,
        ratio=worst.ratio,
        checks=[
            at_most(f"{name}, slowest enqueue x p99 before", each.ratio, 10)
            for name, each in barred.items()
        ],
        notes=[f"{name}: {each}" for name, each in seen.items()]
        + ["value and reference are those of the worse server; SQLite has one writer, no bar"],
    )


def _databases() -> Iterator[tuple[str, str]]:
    """One at a time: a server that idles still takes part of the machine."""
    with postgres_server() as server:
        yield "PostgreSQL", server.create_database()
    with mariadb_server() as server:
        yield "MariaDB", server.create_database()
    with tempfile.TemporaryDirectory(prefix="tenure-bench-") as folder:
        yield "SQLite", f"sqlite:///{Path(folder)}/tenure.db"


def _measure(url: str, scale: Scale) -> Seen:
    app = make_app(url)
    store = app.store
    if not isinstance(store, SqlStore):
        raise AssertionError("a measured store speaks SQL")
    with ExitStack() as stack:
        stack.callback(app.close)
        app.enqueue("noop")
        _fill(store, scale.rows(ROWS))
        calm(url)
        migrations = Migrations(store.database, [*store.migrations.all, _indexes(store)])
        with _enqueuing(app) as calls:
            time.sleep(scale.seconds(BEFORE_SECONDS))
            before = calls[:]
            begun = time.monotonic()
            with ThreadPoolExecutor(1) as pool:
                pool.submit(migrations.apply).result()
            took = time.monotonic() - begun
        return Seen(before[len(before) // 10 :], calls[len(before) :], took)


def _indexes(store: SqlStore) -> Migration:
    """The statements of the migration in question, once more, and a new column."""
    dialect, number = store.database.dialect, store.migrations.latest + 1
    [lists] = [one for one in load(dialect.package) if one.version == LISTS]
    column = "ALTER TABLE tenure_jobs ADD COLUMN bench INTEGER NOT NULL DEFAULT 0"
    statements = ";\n".join([*lists.statements, column])
    return parse(number, "bench", f"-- serves: 1\n{statements};\n")


def _fill(store: SqlStore, rows: int) -> None:
    """Finished jobs of many tenants and owners, in a table without the indexes."""
    name = store.database.dialect.name
    source = FINISHED + NAMES[name].format(rows)
    fill = FILL + SERIES[name].format(rows, source)
    with store.database.raw_connection() as connection:
        for statement in (*DROPS[name], fill):
            connection.cursor().execute(statement)


@contextmanager
def _enqueuing(app: Tenure) -> Iterator[list[float]]:
    """A producer that calls again and again, and how long each call took."""
    calls: list[float] = []
    stop = threading.Event()

    def produce() -> None:
        while not stop.wait(PAUSE_SECONDS):
            begun = time.perf_counter()
            app.enqueue("noop")
            calls.append((time.perf_counter() - begun) * 1_000)

    producer = threading.Thread(target=produce)
    producer.start()
    try:
        yield calls
    finally:
        stop.set()
        producer.join()
