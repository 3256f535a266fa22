"""What a purge leaves and what it costs: no rows behind, no scan of a large table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tenure.core.filter import JobFilter
from tenure.core.job import DEAD_LETTERS, NewJob, State
from tenure.core.timing.clock import to_micros
from tenure.stores import open_store
from tenure.stores.contract import LogLine, Report
from tenure.stores.sql.queries import to_numbered, to_pyformat
from tenure.stores.sql.statement import Statement
from tenure.stores.sql.store import SqlStore, sql_store
from tenure.testing.conformance.actions import OOPS, add, keyed, settle, start_job
from tests.support.databases import engine_for

TABLES = ("tenure_jobs", "tenure_payloads", "tenure_attempts", "tenure_logs", "tenure_keys")
ROWS = 20_000
KEYS = 2_000
MOVES = ("purge_edge", "pick_purgeable", "purge_jobs")


@pytest.fixture
def opened(database_url: str) -> Iterator[SqlStore]:
    """On the database's own clock."""
    store = sql_store(open_store(database_url))
    yield store
    store.close()


def left(url: str) -> dict[str, int]:
    """How many rows each table has."""
    with engine_for(url).connect() as connection:
        return {
            name: connection.exec_driver_sql(f"SELECT count(*) FROM {name}").scalar_one()  # noqa: S608
            for name in TABLES
        }


def test_nothing_of_a_purged_job_is_left(opened: SqlStore, database_url: str) -> None:
    job = start_job(opened, payload='"' + "x" * 100_000 + '"')
    opened.jobs.report([Report(lease=job.lease, lines=[LogLine("a"), LogLine("b")])])
    settle(opened, job, State.FAILED, entry="failed", failure=OOPS)
    add(opened, keyed("k", window=0.000_001))
    assert left(database_url) == dict(zip(TABLES, (2, 1, 1, 2, 1), strict=True))

    done = opened.jobs.purge(JobFilter(states=DEAD_LETTERS), opened.now())

    assert (done.removed, done.keys) == (1, 1)
    assert left(database_url) == dict(zip(TABLES, (1, 0, 0, 0, 0), strict=True))


def test_a_chunk_never_scans_the_table(opened: SqlStore, dialect: str, database_url: str) -> None:
    opened.jobs.add([NewJob(kind="x") for _ in range(ROWS)])
    analyze(database_url, dialect)

    for where, ids in ((), None), (("letters",), None), (("ids",), [7, 8]):
        for name in MOVES:
            if name == "purge_edge" and ids:
                continue  # named jobs need none
            plan = explain(opened, dialect, chunk_statement(opened, name, where, ids))
            assert not scans(dialect, plan), (name, where, plan)


def test_keys_that_are_over_are_found_without_a_scan(
    opened: SqlStore, dialect: str, database_url: str
) -> None:
    add(opened, *(keyed(str(number), window=3_600.0) for number in range(KEYS)))
    analyze(database_url, dialect)

    plan = explain(opened, dialect, Statement("purge_windows", {"limit": 10}))

    assert not scans(dialect, plan), plan


def chunk_statement(
    store: SqlStore, name: str, where: tuple[str, ...], ids: list[int] | None
) -> Statement:
    """As a chunk in the middle of the table would run it."""
    values = {
        "after": 0 if ids else ROWS // 2,
        "edge": 2**63 - 1 if ids else ROWS // 2 + 5_000,
        "walked": 4_999,
        "before": to_micros(store.now()),
        "purgeable": [2, 5],
        "limit": 500,
        "ids": ids or list(range(1, 501)),
    }
    return Statement(name, values, where=() if name == "purge_jobs" else where)


def analyze(url: str, dialect: str) -> None:
    """As autovacuum and its kin would have done."""
    statement = "ANALYZE TABLE tenure_jobs, tenure_keys" if dialect == "mysql" else "ANALYZE"
    with engine_for(url).connect() as connection:
        connection.exec_driver_sql(statement)
        connection.commit()


def explain(store: SqlStore, dialect: str, statement: Statement) -> list[Any]:
    """The plan of the first step."""
    step = store.database.queries.get(statement.name, statement.where).steps[0]
    values = store.database.dialect.values(statement)
    with store.database.raw_connection() as connection:
        cursor = connection.cursor()
        if dialect == "postgres":
            return generic_plan(cursor, step, values)
        if dialect == "sqlite":
            return [row[3] for row in cursor.execute(f"EXPLAIN QUERY PLAN {step}", values)]
        cursor.execute(f"EXPLAIN {to_pyformat(step)}", values)
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def generic_plan(cursor: Any, step: str, values: Any) -> list[str]:
    """The one that serves every value: what a prepared statement ends with."""
    text, names = to_numbered(step)
    given = ", ".join(literal(values[name]) for name in names)
    cursor.execute("SET plan_cache_mode = force_generic_plan")
    cursor.execute(f"PREPARE asked AS {text}")
    cursor.execute(f"EXPLAIN EXECUTE asked{f'({given})' if given else ''}")
    return [row[0] for row in cursor.fetchall()]


def literal(value: Any) -> str:
    return f"'{{{','.join(map(str, value))}}}'" if isinstance(value, list) else str(value)


def scans(dialect: str, plan: list[Any]) -> bool:
    match dialect:
        case "sqlite":
            return any(line.startswith("SCAN tenure_") for line in plan)
        case "postgres":
            return any("Seq Scan on tenure_" in line or "Sort" in line for line in plan)
        case _:
            return any(row["type"] in ("ALL", "index") for row in plan)
