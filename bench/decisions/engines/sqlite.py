"""SQLite of the standard library: WAL, synchronous FULL, settle and next claim in one transaction.

The bytes logged are what this process wrote, as /proc/self/io counts them.
"""
# Fixed texts of a measurement, no input of anybody:
# ruff: noqa: S608

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

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

PRAGMAS = (
    "journal_mode=WAL",
    "synchronous=FULL",
    "cache_size=-65536",
    "wal_autocheckpoint=4000",
)


class Sqlite:
    """The hot path of one variant, in a new file."""

    def __init__(self, path: Path, variant: Variant) -> None:
        for end in ("", "-wal", "-shm"):
            path.with_name(path.name + end).unlink(missing_ok=True)
        self.path, self.variant = path, variant
        self.db = sqlite3.connect(path, isolation_level=None, cached_statements=256)
        for pragma in PRAGMAS:
            self.db.execute(f"PRAGMA {pragma}").fetchall()
        self.floor: tuple[int, Any] = (0, 0 if variant.id == "int" else b"")
        self.add, self.take = self._add(), self.claim()

    def create(self) -> None:
        key = "INTEGER PRIMARY KEY" if self.variant.id == "int" else "BLOB PRIMARY KEY NOT NULL"
        tail = "WITHOUT ROWID" if self.variant.id == "uuid-norowid" else ""
        columns = COLUMNS.format(text="TEXT", long="TEXT")
        for statement in [
            f"CREATE TABLE tenure_jobs (id {key}, {columns}) {tail}",
            "CREATE TABLE tenure_payloads (id INTEGER PRIMARY KEY, payload TEXT NOT NULL)",
            *partial_indexes(self.variant),
        ]:
            self.db.execute(statement)

    def insert(self, rows: list[Row]) -> None:
        apart = self.variant.apart
        values = [
            (row.id_bytes, row.run_at, None if apart else row.payload, row.key) for row in rows
        ]
        self.db.execute("BEGIN IMMEDIATE")
        self.db.executemany(self.add, values)
        if apart:
            last = self.db.execute("SELECT max(id) FROM tenure_jobs").fetchone()[0]
            self.db.executemany(
                "INSERT INTO tenure_payloads VALUES (?, ?)",
                [(last - len(rows) + place, row.payload) for place, row in enumerate(rows, 1)],
            )
        self.db.execute("COMMIT")

    def ready(self) -> None:
        self.db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def cycle(self, held: list[Claimed]) -> list[Claimed]:
        self.db.execute("BEGIN IMMEDIATE")
        if held:
            values = [value for row in held for value in (row[0], row[4], RESULT)]
            check(len(self.db.execute(_end(len(held)), [*values, now_us()]).fetchall()), held)
        rows = self.db.execute(self.take, (now_us(), *self.floor)).fetchall()
        self.db.execute("COMMIT")
        if rows:
            self.floor = max((row[5], row[0]) for row in rows)
            if self.variant.apart:
                marks = ", ".join("?" * len(rows))
                self.db.execute(
                    f"SELECT id, payload FROM tenure_payloads WHERE id IN ({marks})",
                    [row[0] for row in rows],
                ).fetchall()
        return rows

    def claim(self, tenant: str = "'acme'", limit: str = str(BATCH), more: str = "") -> str:
        """The claim; ?1 is now, (?2, ?3) the floor."""
        lane = "" if self.variant.index == "short" else f"AND tenant = {tenant}"
        payload = "NULL" if self.variant.apart else "payload"
        return f"""UPDATE tenure_jobs SET {TAKEN.format(until=f"?1 + {LEASE}", now="?1")}
            WHERE id IN (
                SELECT id FROM tenure_jobs
                WHERE queue = 'default' AND priority = 0 {lane} AND state = 0 AND hold = 0 {more}
                    AND run_at <= ?1 AND (run_at, id) > (?2, ?3)
                ORDER BY run_at, id LIMIT {limit})
            RETURNING id, kind, {payload}, attempt, fence, run_at"""

    def written(self) -> int:
        counters = Path("/proc/self/io").read_text().splitlines()
        return int(dict(line.split(": ") for line in counters)["wchar"])

    def size(self) -> int:
        self.ready()
        return self.path.stat().st_size

    def close(self) -> None:
        self.db.close()

    def _add(self) -> str:
        return f"""INSERT INTO tenure_jobs
                (id, kind, queue, tenant, run_at, payload, unique_key, created_at)
            VALUES (?1, 'noop', 'default', 'acme', ?2, ?3, ?4, ?2)
            {"ON CONFLICT DO NOTHING" if self.variant.ignore else ""}"""


def _end(count: int) -> str:
    return f"""WITH s(id, fence, result) AS (VALUES {", ".join(["(?, ?, ?)"] * count)})
        UPDATE tenure_jobs SET {DONE.format(now="?", result="s.result")}
        FROM s
        WHERE tenure_jobs.id = s.id AND tenure_jobs.fence = s.fence AND +state = 1
        RETURNING tenure_jobs.id"""
