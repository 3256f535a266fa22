"""MariaDB by PyMySQL, READ COMMITTED: settle, a locking read and an update in one transaction."""
# Fixed texts of a measurement, no input of anybody:
# ruff: noqa: S608

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import pymysql

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
)

TEXT = "VARCHAR(64)"
DUE = "AS (CASE WHEN state = 0 AND hold = 0 THEN queue END)"
DUE_COLUMNS = {
    "stored": f", due_queue {TEXT} {DUE} STORED",
    "virtual": f", due_queue {TEXT} {DUE} VIRTUAL",
    "kept": f", due_queue {TEXT}",
    "state": "",
}
LIVE_KEY = f""",
    live_key {TEXT} AS (CASE WHEN state IN (0, 1) THEN unique_key END) STORED,
    UNIQUE KEY tenure_unique (tenant, kind, live_key)"""
PAYLOADS = """CREATE TABLE tenure_payloads (id BIGINT PRIMARY KEY, payload MEDIUMTEXT NOT NULL)
    ENGINE=InnoDB"""
SIZE = """SELECT SUM(FILE_SIZE) FROM information_schema.INNODB_SYS_TABLESPACES
    WHERE NAME LIKE CONCAT(DATABASE(), '/tenure%')"""


class MariaDb:
    """The hot path of one variant."""

    def __init__(self, url: str, variant: Variant) -> None:
        address = urlsplit(url)
        self.variant = variant
        self.db = pymysql.connect(
            host=address.hostname,
            port=address.port or 0,
            user=address.username,
            database=address.path.strip("/"),
            autocommit=False,
        )
        self.cursor = self.db.cursor()
        self.cursor.execute("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")
        self.floor: tuple[int, Any] = (0, 0 if variant.id == "int" else bytes(16))
        self.add, self.take = self._add(), self.claim()

    def create(self) -> None:
        self.cursor.execute("DROP TABLE IF EXISTS tenure_jobs, tenure_payloads")
        self.cursor.execute(self._jobs())
        self.cursor.execute(PAYLOADS)

    def insert(self, rows: list[Row]) -> None:
        apart = self.variant.apart
        self.add_jobs(
            [
                (row.id_bytes, "acme", row.run_at, None if apart else row.payload, row.key)
                for row in rows
            ]
        )
        if apart:
            first = self.cursor.lastrowid
            self.cursor.executemany(
                "INSERT INTO tenure_payloads VALUES (%s, %s)",
                [(first + place, row.payload) for place, row in enumerate(rows)],
            )
        self.db.commit()

    def add_jobs(self, values: list[tuple[Any, str, int, str | None, str | None]]) -> None:
        """Insert jobs of (id, tenant, run_at, payload, unique key) without a commit."""
        tail = ("default",) if self.variant.due == "kept" else ()
        self.cursor.executemany(
            self.add,
            [
                (id_, "noop", "default", tenant, at, payload, key, at, *tail)
                for id_, tenant, at, payload, key in values
            ],
        )

    def ready(self) -> None:
        self.cursor.execute("ANALYZE TABLE tenure_jobs")

    def cycle(self, held: list[Claimed]) -> list[Claimed]:
        if held:
            self._settle(held)
        self.cursor.execute(self.take, (self.floor[0], now_us()))
        rows = list(self.cursor.fetchall())
        if rows:
            self.mark_taken(rows)
            if self.variant.apart:
                self.cursor.execute(
                    f"SELECT id, payload FROM tenure_payloads WHERE id IN ({self._keys(rows)})"
                )
                self.cursor.fetchall()
            self.floor = max((row[5], row[0]) for row in rows)
        self.db.commit()
        return rows

    def claim(self, tenant: str = "'acme'", limit: str = str(BATCH)) -> str:
        """The locking read of a claim; its %s are the lowest and the highest run_at."""
        payload = "NULL" if self.variant.apart else "payload"
        force = "FORCE INDEX (tenure_due)" if self.variant.force else ""
        due = "due_queue = 'default'"
        if self.variant.due == "state":
            due = "state = 0 AND hold = 0 AND queue = 'default'"
        return f"""SELECT id, kind, {payload}, attempt, fence + 1, run_at
            FROM tenure_jobs {force}
            WHERE {due} AND priority = 0 AND tenant = {tenant}
                AND run_at >= %s AND run_at <= %s
            ORDER BY run_at, id LIMIT {limit} FOR UPDATE SKIP LOCKED"""

    def mark_taken(self, rows: list[Claimed]) -> None:
        """The second half of a claim."""
        taken = TAKEN.format(until=now_us() + LEASE, now=now_us())
        if self.variant.due == "kept":
            taken += ", due_queue = NULL"
        self.cursor.execute(f"UPDATE tenure_jobs SET {taken} WHERE id IN ({self._keys(rows)})")

    def one(self, sql: str, values: tuple[Any, ...] | None = None) -> tuple[Any, ...]:
        """The first row of a result that has one."""
        self.cursor.execute(sql, values)
        row = self.cursor.fetchone()
        assert row is not None
        return row

    def written(self) -> int:
        return int(self.one("SHOW GLOBAL STATUS LIKE 'Innodb_os_log_written'")[1])

    def size(self) -> int:
        return int(self.one(SIZE)[0])

    def close(self) -> None:
        self.db.close()

    def _settle(self, held: list[Claimed]) -> None:
        done = DONE.format(now=now_us(), result=repr(RESULT))
        if self.variant.fixed:
            done = done.replace("lease_until = NULL", "lease_until = 0")
        settled = self.cursor.execute(
            f"""UPDATE tenure_jobs SET {done}
            WHERE id IN ({self._keys(held)}) AND fence = 1 AND state = 1"""
        )
        check(settled, held)

    def _keys(self, rows: list[Claimed]) -> str:
        whole = self.variant.id == "int"
        return ",".join(str(row[0]) if whole else f"x'{row[0].hex()}'" for row in rows)

    def _jobs(self) -> str:
        variant = self.variant
        made = "BIGINT AUTO_INCREMENT" if variant.id == "int" else "BINARY(16)"
        lead = "state, queue" if variant.due == "state" else "due_queue"
        columns = COLUMNS.format(text=TEXT, long="MEDIUMTEXT")
        if variant.fixed:
            for name in ("lease_until", "started_at", "finished_at"):
                columns = columns.replace(f"{name} BIGINT", f"{name} BIGINT NOT NULL DEFAULT 0")
        return f"""CREATE TABLE tenure_jobs (
                id {made} PRIMARY KEY,
                {columns}{DUE_COLUMNS[variant.due]}{LIVE_KEY if variant.unique else ""},
                KEY tenure_due ({lead}, priority, tenant, run_at, id),
                KEY tenure_lease (lease_until)
            ) ENGINE=InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"""

    def _add(self) -> str:
        columns = "id, kind, queue, tenant, run_at, payload, unique_key, created_at"
        marks = ", ".join(["%s"] * 8)
        if self.variant.due == "kept":
            columns, marks = f"{columns}, due_queue", f"{marks}, %s"
        ignore = "IGNORE" if self.variant.ignore else ""
        return f"INSERT {ignore} INTO tenure_jobs ({columns}) VALUES ({marks})"
