"""The candidate job table, what a variant changes in it, and the rows a client brings.

Each database has an engine with the same verbs (`Engine`) beside this file.
"""

from __future__ import annotations

import random
import time
import uuid
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, Protocol

BATCH = 200
LEASE = 30_000_000
RESULT = '{"ok":true,"rows":12}'
COLUMNS = """
    kind {text} NOT NULL,
    queue {text} NOT NULL,
    priority SMALLINT NOT NULL DEFAULT 0,
    tenant {text} NOT NULL,
    state SMALLINT NOT NULL DEFAULT 0,
    hold SMALLINT NOT NULL DEFAULT 0,
    run_at BIGINT NOT NULL,
    attempt SMALLINT NOT NULL DEFAULT 0,
    max_attempts SMALLINT NOT NULL DEFAULT 5,
    fence INT NOT NULL DEFAULT 0,
    lease_owner {text},
    lease_until BIGINT,
    payload {long},
    unique_key {text},
    expires_at BIGINT,
    created_at BIGINT NOT NULL,
    started_at BIGINT,
    finished_at BIGINT,
    result {long},
    owner {text},
    ordering_key {text},
    bucket {text},
    batch_id BIGINT,
    seq BIGINT,
    payload_hash {text},
    enqueued_by {text},
    correlation_id {text},
    trace {text},
    progress {text},
    reason {text}"""
TAKEN = """state = 1, attempt = attempt + 1, fence = fence + 1, lease_owner = 'worker-1',
    lease_until = {until}, started_at = {now}"""
DONE = """state = 2, finished_at = {now}, lease_owner = NULL, lease_until = NULL,
    result = {result}"""
INDEXED = {
    "tenant": "queue, priority, tenant, run_at, id",
    "short": "queue, priority, run_at, id",
    "state": "state, queue, priority, tenant, run_at, id",
}

# id, kind, payload, attempt, fence, run_at
Claimed = tuple[Any, ...]


@dataclass(frozen=True)
class Variant:
    """One form of the table; `due`, `force` and `fixed` matter on MariaDB only."""

    name: str
    id: Literal["int", "uuid", "uuid-norowid"] = "int"
    payload: int = 100
    apart: bool = False
    storage: str = ""
    index: Literal["tenant", "short", "state"] = "tenant"
    unique: bool = False
    keys: bool = False
    twice: bool = False
    ignore: bool = False
    due: Literal["stored", "virtual", "kept", "state"] = "stored"
    force: bool = True
    fixed: bool = False


@dataclass(frozen=True)
class Row:
    """A job before its insert."""

    id: uuid.UUID | None
    payload: str
    key: str | None
    run_at: int

    @property
    def id_bytes(self) -> bytes | None:
        return self.id.bytes if self.id else None


class Engine(Protocol):
    """The hot path on one database."""

    def create(self) -> None:
        """Make empty tables."""

    def insert(self, rows: list[Row]) -> None:
        """Insert the rows in one transaction."""

    def ready(self) -> None:
        """Bring the table into the state of a calm moment."""

    def cycle(self, held: list[Claimed]) -> list[Claimed]:
        """Settle the batch that is held and claim the next one."""

    def written(self) -> int:
        """Bytes logged so far."""

    def size(self) -> int:
        """Bytes on disk."""

    def close(self) -> None:
        """Disconnect."""


def now_us() -> int:
    return time.time_ns() // 1000


def make_rows(variant: Variant, count: int) -> list[Row]:
    """Rows as a client has them before the insert; keys only when the variant wants them."""
    texts, at = _payloads(variant.payload), now_us()
    return [
        Row(
            _uuid7() if variant.id != "int" else None,
            texts[number % len(texts)],
            f"order-{number}" if variant.keys else None,
            at + number,
        )
        for number in range(count)
    ]


def partial_indexes(variant: Variant) -> list[str]:
    """The indexes of PostgreSQL and SQLite."""
    due, lease = "WHERE state = 0 AND hold = 0", "WHERE state = 1"
    if variant.index == "state":
        due = lease = ""
    made = [
        f"CREATE INDEX tenure_due ON tenure_jobs ({INDEXED[variant.index]}) {due}",
        f"CREATE INDEX tenure_lease ON tenure_jobs (lease_until) {lease}",
    ]
    if variant.unique:
        made.append("""CREATE UNIQUE INDEX tenure_unique ON tenure_jobs (tenant, kind, unique_key)
            WHERE unique_key IS NOT NULL AND state IN (0, 1)""")
    return made


def check(settled: int, held: list[Claimed]) -> None:
    if settled != len(held):
        raise SystemExit(f"settled {settled} of {len(held)}")


@cache
def _payloads(size: int) -> list[str]:
    """200 JSON-like payloads of random order lines."""
    rng, made = random.Random(7), []
    for _ in range(200):
        text = ""
        while len(text) < size - 10:
            sku, quantity, price = rng.getrandbits(40), rng.randrange(99), rng.randrange(99999)
            text += f'{{"sku":"{sku:010x}","qty":{quantity},"price":{price}}},'
        made.append('{"l":[' + text[: size - 10] + ' ""]}')
    return made


def _uuid7() -> uuid.UUID:
    """A version 7 UUID: 48 bits of milliseconds, then random."""
    low = random.getrandbits(74)
    high = (time.time_ns() // 1_000_000) << 80 | 7 << 76 | (low >> 62) << 64
    return uuid.UUID(int=high | 2 << 62 | low & (1 << 62) - 1)
