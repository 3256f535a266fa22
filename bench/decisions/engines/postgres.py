"""PostgreSQL by psycopg 3: prepared statements and arrays, one commit for each claim and settle."""
# Fixed texts of a measurement, no input of anybody:
# ruff: noqa: S608

from __future__ import annotations

import uuid
from typing import Any

import psycopg

from bench.decisions.engines.candidate import (
    BATCH,
    COLUMNS,
    DONE,
    LEASE,
    RESULT,
    TAKEN,
    Claimed,
    Row,
    Variant,
    check,
    now_us,
    partial_indexes,
)

TAKEN_NOW = TAKEN.format(until=f"%(now)s::bigint + {LEASE}", now="%(now)s::bigint")
DONE_NOW = DONE.format(now="%(now)s::bigint", result="s.result")
SIZE = """SELECT pg_total_relation_size('tenure_jobs')
    + pg_total_relation_size('tenure_payloads')"""


class Postgres:
    """The hot path of one variant; claim and settle are one statement each."""

    def __init__(self, url: str, variant: Variant) -> None:
        self.variant, self.type = variant, "bigint" if variant.id == "int" else "uuid"
        self.db = psycopg.connect(url, autocommit=True, prepare_threshold=0)
        self.floor: tuple[int, Any] = (0, 0 if variant.id == "int" else uuid.UUID(int=0))
        self.add, self.take, self.end = self._add(), self._take(), self._end()
        self.add_payloads = f"""INSERT INTO tenure_payloads
            SELECT * FROM unnest(%s::{self.type}[], %b::text[])"""
        self.read_payloads = f"""SELECT id, payload FROM tenure_payloads
            WHERE id = ANY(%s::{self.type}[])"""

    def create(self) -> None:
        made = "GENERATED ALWAYS AS IDENTITY" if self.variant.id == "int" else ""
        columns = COLUMNS.format(text="text", long="text")
        for statement in [
            "DROP TABLE IF EXISTS tenure_jobs, tenure_payloads",
            "CHECKPOINT",
            f"CREATE TABLE tenure_jobs (id {self.type} {made} PRIMARY KEY, {columns})",
            f"CREATE TABLE tenure_payloads (id {self.type} PRIMARY KEY, payload text NOT NULL)",
            *partial_indexes(self.variant),
            *filter(None, self.variant.storage.split(";")),
        ]:
            self.db.execute(statement)

    def insert(self, rows: list[Row]) -> None:
        apart, texts = self.variant.apart, [row.payload for row in rows]
        values = (
            [row.id for row in rows],
            [row.run_at for row in rows],
            [None] * len(rows) if apart else texts,
            [row.key for row in rows],
        )
        with self.db.transaction():
            made = self.db.execute(self.add, values).fetchall()
            if apart:
                self.db.execute(self.add_payloads, ([row[0] for row in made], texts))

    def ready(self) -> None:
        self.db.execute("VACUUM ANALYZE tenure_jobs")

    def cycle(self, held: list[Claimed]) -> list[Claimed]:
        if held:
            settled = {
                "now": now_us(),
                "ids": [row[0] for row in held],
                "fences": [row[4] for row in held],
                "results": [RESULT] * len(held),
            }
            check(self.db.execute(self.end, settled).rowcount, held)
        claim = {"now": now_us(), "at": self.floor[0], "id": self.floor[1]}
        rows = self.db.execute(self.take, claim).fetchall()
        if rows:
            self.floor = max((row[5], row[0]) for row in rows)
            if self.variant.apart:
                self.db.execute(self.read_payloads, ([row[0] for row in rows],)).fetchall()
        return rows

    def written(self) -> int:
        return self._number("SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn")

    def size(self) -> int:
        return self._number(SIZE)

    def close(self) -> None:
        self.db.close()

    def _number(self, sql: str) -> int:
        return int(self.db.execute(sql).fetchall()[0][0])

    def _add(self) -> str:
        ids, value = ("", "") if self.variant.id == "int" else ("id, ", "s.id, ")
        return f"""INSERT INTO tenure_jobs
                ({ids}kind, queue, tenant, run_at, payload, unique_key, created_at)
            SELECT {value}'noop', 'default', 'acme', s.at, s.payload, s.key, s.at
            FROM unnest(%s::{self.type}[], %s::bigint[], %b::text[], %b::text[])
                AS s(id, at, payload, key)
            {"ON CONFLICT DO NOTHING" if self.variant.ignore else ""}
            RETURNING id"""

    def _take(self) -> str:
        tenant = "" if self.variant.index == "short" else "AND tenant = 'acme'"
        payload = "NULL" if self.variant.apart else "payload"
        return f"""UPDATE tenure_jobs SET {TAKEN_NOW}
            WHERE id = ANY(ARRAY(
                SELECT id FROM tenure_jobs
                WHERE queue = 'default' AND priority = 0 {tenant} AND state = 0 AND hold = 0
                    AND run_at <= %(now)s::bigint
                    AND (run_at, id) > (%(at)s::bigint, %(id)s::{self.type})
                ORDER BY run_at, id LIMIT {BATCH} FOR UPDATE SKIP LOCKED))
            RETURNING id, kind, {payload}, attempt, fence, run_at"""

    def _end(self) -> str:
        return f"""UPDATE tenure_jobs j SET {DONE_NOW}
            FROM unnest(%(ids)s::{self.type}[], %(fences)s::int[], %(results)s::text[])
                AS s(id, fence, result)
            WHERE j.id = s.id AND j.fence = s.fence AND j.state + 0 = 1
            RETURNING j.id"""
