"""The variants of each throughput question; the first of a list is the candidate."""

from __future__ import annotations

from bench.decisions.engines.candidate import Variant

EXTERNAL = "ALTER TABLE tenure_jobs ALTER payload SET STORAGE EXTERNAL"
TARGET = "ALTER TABLE tenure_jobs SET (toast_tuple_target={})"

IDS = [
    Variant("bigint of the database"),
    Variant("uuid7 of the client", id="uuid"),
]
INDEXES = [
    Variant("partial (queue, priority, tenant, run_at, id)"),
    Variant("partial (queue, priority, run_at, id)", index="short"),
    Variant("full (state, queue, priority, tenant, run_at, id)", index="state"),
]
UNIQUE_KEYS = [
    Variant("no unique index"),
    Variant("index, no keys", unique=True),
    Variant("index, no keys, ON CONFLICT", unique=True, ignore=True),
    Variant("index, keys", unique=True, keys=True),
    Variant("index, keys, ON CONFLICT", unique=True, keys=True, ignore=True),
    Variant("index, each key twice, ON CONFLICT", unique=True, keys=True, ignore=True, twice=True),
]
DUE_COLUMNS = [
    Variant("STORED generated"),
    Variant("maintained column", due="kept"),
    Variant("VIRTUAL generated", due="virtual"),
    Variant("full, led by state", due="state"),
    Variant("STORED, no FORCE INDEX", force=False),
    Variant("STORED, times NOT NULL", fixed=True),
]


def variants(question: str, db: str, sizes: list[int]) -> list[list[Variant]]:
    """The lists to compare for one question on one database; none if it does not apply there."""
    match question, db:
        case "q1", "lite":
            return [[*IDS, Variant("uuid7, WITHOUT ROWID", id="uuid-norowid")]]
        case "q1", _:
            return [IDS]
        case "q2", _:
            # One list per size, so that each ratio compares the same bytes.
            return [_places(size, db) for size in sizes]
        case "q3", "pg" | "lite":
            return [INDEXES]
        case "q8", _:
            return [UNIQUE_KEYS]
        case "q9", "maria":
            return [DUE_COLUMNS]
    return []


def _places(size: int, db: str) -> list[Variant]:
    """Where a payload of this size may be."""
    inline = f"{size} B inline"
    both = [
        Variant(inline, payload=size),
        Variant(f"{size} B second table", payload=size, apart=True),
    ]
    if db != "pg":
        return both
    targets = [
        Variant(
            f"{inline} EXTERNAL, toast_tuple_target={target}",
            payload=size,
            storage=f"{EXTERNAL};{TARGET.format(target)}",
        )
        for target in (128, 512)
    ]
    return [*both, Variant(f"{inline} EXTERNAL", payload=size, storage=EXTERNAL), *targets]
