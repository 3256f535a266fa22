"""Throughput: q1 id, q2 row width, q3 index, q8 unique key, q9 due column of MariaDB.

Inserts rows, then claims and settles all of them, for each variant in turn. See README.md.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench.decisions.databases import mariadb, postgres
from bench.decisions.engines.candidate import Engine, Row, Variant, make_rows
from bench.decisions.engines.mariadb import MariaDb
from bench.decisions.engines.postgres import Postgres
from bench.decisions.engines.sqlite import Sqlite
from bench.decisions.variants import variants
from bench.meters import cpu_seconds, table

QUESTIONS = ["q1", "q2", "q3", "q8", "q9"]
DATABASES = ["pg", "lite", "maria"]
INSERTED_AT_ONCE = 1000
LARGE_PAYLOAD = 4000
HEAD = [
    "variant",
    "insert ratio",
    "insert us/row",
    "insert cpu us",
    "insert log B/row",
    "loop ratio",
    "loop us/job",
    "loop cpu us",
    "loop log B/job",
    "B/row inserted",
    "B/row drained",
]
Figures = dict[str, float]


@dataclass(frozen=True)
class Target:
    """A way to open a database, and the CPU seconds used by who does its work."""

    open: Callable[[Variant], Engine]
    cpu: Callable[[], float]


@contextmanager
def target(db: str) -> Iterator[Target]:
    """A database of this kind; SQLite works in this process."""
    if db == "pg":
        with postgres() as pg:
            yield Target(lambda variant: Postgres(pg.url, variant), lambda: cpu_seconds(pg.pid))
    elif db == "maria":
        with mariadb() as maria:
            yield Target(
                lambda variant: MariaDb(maria.url, variant), lambda: cpu_seconds(maria.pid)
            )
    else:
        with tempfile.TemporaryDirectory(prefix="tenure-lite-") as folder:
            path = Path(folder) / "jobs.db"
            yield Target(lambda variant: Sqlite(path, variant), time.process_time)


def run(at: Target, variant: Variant, count: int) -> Figures:
    """Insert, then claim and settle everything; figures per row."""
    engine = at.open(variant)
    engine.create()
    rows = make_rows(variant, count)
    jobs = count
    if variant.twice:
        jobs = count // 2
        rows = rows[:jobs] * 2
    figures = measure("insert", engine, at.cpu, count, lambda: insert(engine, rows))
    figures["size"] = engine.size() / count
    engine.ready()
    figures |= measure("loop", engine, at.cpu, jobs, lambda: drain(engine))
    figures["after"] = engine.size() / count
    engine.close()
    return figures


def insert(engine: Engine, rows: list[Row]) -> int:
    for start in range(0, len(rows), INSERTED_AT_ONCE):
        engine.insert(rows[start : start + INSERTED_AT_ONCE])
    return len(rows)


def drain(engine: Engine) -> int:
    held, total = engine.cycle([]), 0
    while held:
        total += len(held)
        held = engine.cycle(held)
    return total


def measure(
    name: str, engine: Engine, cpu: Callable[[], float], count: int, work: Callable[[], int]
) -> Figures:
    """Time, CPU and log bytes per row of work that says how many rows it did."""
    logged, used, begun = engine.written(), cpu(), time.perf_counter()
    done = work()
    took, spent = time.perf_counter() - begun, cpu() - used
    if done != count:
        raise SystemExit(f"{name}: {done} of {count} rows")
    return {
        f"{name} us": took / count * 1e6,
        f"{name} cpu": spent / count * 1e6,
        f"{name} log": (engine.written() - logged) / count,
    }


def compare(title: str, forms: list[Variant], at: Target, count: int, reps: int) -> None:
    """Interleave the variants, the order turning with each repetition, and print the medians."""
    seen: dict[str, list[Figures]] = {form.name: [] for form in forms}
    for rep in range(reps):
        turn = rep % len(forms)
        for form in forms[turn:] + forms[:turn]:
            seen[form.name].append(run(at, form, count))
    first = seen[forms[0].name]
    table(title, HEAD, [[name, *summary(first, own)] for name, own in seen.items()])


def summary(first: list[Figures], own: list[Figures]) -> list[float]:
    """Medians; a ratio is the candidate's time over the variant's in the same repetition."""

    def ratio(key: str) -> float:
        return median(one[key] / two[key] for one, two in zip(first, own, strict=True))

    def value(key: str) -> float:
        return median(one[key] for one in own)

    return [
        ratio("insert us"),
        round(value("insert us"), 1),
        round(value("insert cpu"), 1),
        round(value("insert log")),
        ratio("loop us"),
        round(value("loop us"), 1),
        round(value("loop cpu"), 1),
        round(value("loop log")),
        round(value("size")),
        round(value("after")),
    ]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench.decisions.drain", description=__doc__)
    parser.add_argument("questions", nargs="*", default=QUESTIONS, help=f"of {QUESTIONS}")
    parser.add_argument("--db", default=",".join(DATABASES))
    parser.add_argument("--rows", type=int, default=20000)
    parser.add_argument("--reps", type=int, default=3)
    parser.add_argument("--sizes", default="100,1000,3000,8000", help="payloads of q2, in bytes")
    args = parser.parse_args()
    args.db = args.db.split(",")
    args.sizes = [int(size) for size in args.sizes.split(",")]
    for given, known in ((args.questions, QUESTIONS), (args.db, DATABASES)):
        if unknown := set(given) - set(known):
            parser.error(f"unknown: {', '.join(sorted(unknown))}")
    return args


def main() -> None:
    args = arguments()
    for db in args.db:
        with target(db) as at:
            for name in args.questions:
                for forms in variants(name, db, args.sizes):
                    large = max(form.payload for form in forms) > LARGE_PAYLOAD
                    count = args.rows // 4 if large else args.rows
                    load = f"load {os.getloadavg()[0]:.1f}"
                    title = f"{name} on {db}, {count} rows, {args.reps} repetitions, {load}"
                    compare(title, forms, at, count, args.reps)


if __name__ == "__main__":
    main()
