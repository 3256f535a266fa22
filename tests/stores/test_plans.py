"""PostgreSQL's plans of the hot statements: the same index whatever the statistics say."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tenure import Settings, Tenure
from tenure.core.rules.limits import behind
from tenure.stores.postgres.dialect import PostgresDialect
from tenure.stores.sql.claim.limit_gate import SPAN_COLUMNS
from tenure.stores.sql.claim.oldest_first import AGE_COLUMNS
from tenure.stores.sql.claim.parked_gates import LANE_COLUMNS
from tenure.stores.sql.claim.parked_gates import TAKE_COLUMNS as PARKED_COLUMNS
from tenure.stores.sql.claim.take import TAKE_COLUMNS
from tenure.stores.sql.queries import Queries, read_sql, to_pyformat
from tenure.stores.sql.rows import SETTLE_COLUMNS
from tenure.stores.sql.statement import Batch, Statement
from tests.support.databases import ServerDatabases

LEASE = {"owner": "w", "lease": 1, "reserving": ["default"]}
QUERIES = Queries(read_sql("tenure.stores.postgres"), bound_clock=False)
ROWS = """
INSERT INTO tenure_jobs (kind, queue, priority, tenant, payload, run_at, created_at, max_attempts,
    bucket, state, fence, lease_until)
SELECT 'work', 'default', 100, '', '{}', n, n, 5, 0, %(state)s, 1,
    CASE WHEN %(state)s = 1 THEN n END
FROM generate_series(1, %(count)s) n"""
RUNNING = list(range(50_001, 50_401))

Connection = psycopg.Connection[Any]
Filling = Callable[[Connection], None]


def never_analysed(connection: Connection) -> None:
    connection.execute("ALTER TABLE tenure_jobs SET (autovacuum_enabled = off)")
    fill(connection)


def analysed_when_all_was_done(connection: Connection) -> None:
    """The trap: statistics that say nothing ever runs."""
    connection.execute("ALTER TABLE tenure_jobs SET (autovacuum_enabled = off)")
    connection.execute(ROWS, {"state": 2, "count": 50_000})
    connection.execute("ANALYZE tenure_jobs")
    connection.execute(ROWS, {"state": 1, "count": 400})
    connection.execute(ROWS, {"state": 0, "count": 5_000})


def analysed_now(connection: Connection) -> None:
    fill(connection)
    connection.execute("VACUUM ANALYZE tenure_jobs")


def fill(connection: Connection) -> None:
    for state, count in ((2, 50_000), (1, 400), (0, 5_000)):
        connection.execute(ROWS, {"state": state, "count": count})


@pytest.fixture(params=[never_analysed, analysed_when_all_was_done, analysed_now])
def filled(
    request: pytest.FixtureRequest, postgres_databases: ServerDatabases, tmp_path: Path
) -> Iterator[Connection]:
    filling: Filling = request.param
    url = postgres_databases.fresh(tmp_path)
    app = Tenure(url, settings=Settings(auto_migrate=True))
    app.store.now()
    app.close()
    with psycopg.connect(url, autocommit=True) as connection:
        filling(connection)
        yield connection


def test_settling_goes_by_the_primary_key(filled: Connection) -> None:
    settlements = [(id_, 1, 2, 0, "1", None, 0, 0, 0) for id_ in RUNNING]

    assert scans(filled, Statement("settle_done", {"ids": RUNNING, "fence": 1})) == {
        "tenure_jobs_pkey"
    }
    assert scans(
        filled, Statement("settle_jobs", {"tied": 1}, Batch(SETTLE_COLUMNS, settlements))
    ) == {"tenure_jobs_pkey"}


def test_a_renewal_goes_by_the_primary_key(filled: Connection) -> None:
    leases = Batch(("id", "fence"), [(id_, 1) for id_ in RUNNING])

    assert scans(filled, Statement("extend_leases", {"lease": 1}, leases)) == {"tenure_jobs_pkey"}


def test_a_claim_goes_by_the_due_index(filled: Connection) -> None:
    lanes = Batch(TAKE_COLUMNS, [("default", 100, "", 200, -1, -1)])
    values = {"kinds": ["work"], "room": 200, **LEASE}

    assert scans(filled, Statement("claim_take", values, lanes)) == {
        "tenure_jobs_due",
        "tenure_jobs_pkey",
    }


def test_a_gate_is_counted_and_served_by_its_own_indexes(filled: Connection) -> None:
    names = Batch(SPAN_COLUMNS, [("work", behind("work")), ("other", behind("other"))])
    heads = Batch(LANE_COLUMNS, [("work", "default", -1, "")])
    shares = Batch(PARKED_COLUMNS, [("work", "default", 100, "", 10)])

    assert scans(filled, Statement("count_gates", batch=names)) == {"tenure_jobs_counted"}
    assert scans(filled, Statement("parked_gates", {"lanes": 5}, names)) == {"tenure_jobs_parked"}
    assert scans(filled, Statement("parked_lanes", {"lanes": 5}, heads)) == {"tenure_jobs_parked"}
    assert scans(filled, Statement("claim_parked", LEASE, shares)) == {
        "tenure_jobs_parked",
        "tenure_jobs_pkey",
    }


def test_keys_that_have_stopped_are_looked_for_in_the_index_of_held_jobs(
    filled: Connection,
) -> None:
    edge = Statement("held_edge", {"after": 0, "limit": 5_000})
    stopped = Statement("stopped_orders", {"after": 0, "edge": 5_000})

    assert scans(filled, edge) == {"tenure_jobs_held"}
    assert scans(filled, stopped) == {"tenure_jobs_held", "tenure_jobs_order"}


def test_jobs_without_a_handlers_word_and_old_ones_are_found_by_their_indexes(
    filled: Connection,
) -> None:
    asked = {"kinds": ["work", "other"], "limit": 500}
    lanes = Batch(AGE_COLUMNS, [("default", 100, "", -1, -1)])
    first = {"kinds": ["work"], "first": 20, "ageing": 1}

    assert scans(filled, Statement("find_unplaced", asked)) == {"tenure_jobs_unplaced"}
    assert scans(filled, Statement("claim_ages", first, lanes)) == {"tenure_jobs_due"}
    assert scans(filled, Statement("old_jobs", first, lanes)) == {"tenure_jobs_due"}
    assert scans(filled, Statement("lift_jobs", {"ids": RUNNING})) == {"tenure_jobs_pkey"}


def test_lists_of_a_tenant_or_an_owner_go_by_their_indexes(filled: Connection) -> None:
    page = {"after": 2**62, "limit": 51}
    theirs = Statement("page_jobs", {**page, "tenant": "acme"}, where=("named_tenant",))
    own = {**page, "tenant": "acme", "owner": "ada"}
    mine = Statement("page_jobs", own, where=("tenant", "owner"))

    assert scans(filled, theirs) == {"tenure_jobs_of_tenant"}
    assert scans(filled, mine) in ({"tenure_jobs_of_owner"}, {"tenure_jobs_of_tenant"})


def test_the_running_jobs_of_a_tenant_are_counted_by_the_leases(filled: Connection) -> None:
    counted = scans(filled, Statement("running_of_tenants", {"tenants": ["acme"]}))

    assert counted == {"tenure_jobs_leased"}


@pytest.mark.parametrize(
    ("statement", "index"),
    [
        (Statement("next_queue", {"after": ""}), "tenure_jobs_due"),
        (Statement("queue_load", {"queue": "default", "limit": 20_000}), "tenure_jobs_due"),
        (Statement("held_load", {"limit": 10_000}), "tenure_jobs_held"),
        (Statement("running_load", {"limit": 10_000}), "tenure_jobs_leased"),
        (Statement("stuck_jobs", {"grace": 1}), "tenure_jobs_leased"),
    ],
)
def test_what_a_scrape_counts_is_in_the_indexes_of_open_jobs(
    filled: Connection, statement: Statement, index: str
) -> None:
    assert scans(filled, statement) == {index}


def scans(connection: Connection, statement: Statement) -> set[str]:
    """The indexes that a plan reads; a table that is read from end to end by its own name."""
    sql = to_pyformat(QUERIES.get(statement.name, statement.where).steps[0])
    values = PostgresDialect("").values(statement)
    (plan,) = connection.execute(f"EXPLAIN (FORMAT JSON) {sql}", values).fetchone() or ([],)
    return set(_scanned(plan[0]["Plan"]))


def _scanned(node: dict[str, Any]) -> list[str]:
    found = [name for part in node.get("Plans", []) for name in _scanned(part)]
    if node["Node Type"] == "Seq Scan":
        return [node["Relation Name"], *found]
    return [node["Index Name"], *found] if "Index Name" in node else found
