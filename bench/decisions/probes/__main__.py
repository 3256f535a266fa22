"""Single statements: q4 lanes, q5 dead rows, q6 rows that may not run, q7 settle, q9 MariaDB reads.

Prints medians of single statements against a table in a difficult state. See README.md.
"""

from __future__ import annotations

import argparse
import tempfile
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path

from bench.decisions.databases import mariadb, postgres
from bench.decisions.probes.dead_rows import q5
from bench.decisions.probes.due_column import q9
from bench.decisions.probes.explain import Bench
from bench.decisions.probes.lanes_mariadb import q4_mariadb
from bench.decisions.probes.lanes_postgres import q4
from bench.decisions.probes.lanes_sqlite import q4_sqlite
from bench.decisions.probes.not_runnable import q6, q6_sqlite
from bench.decisions.probes.settle import q7

QUESTIONS = ["q4", "q4lite", "q4maria", "q5", "q6", "q7", "q9"]


class Places:
    """Where questions are asked: one PostgreSQL for all, started when it is first needed."""

    def __init__(self, stack: ExitStack, reps: int, plans: bool) -> None:
        self.stack, self.reps, self.plans = stack, reps, plans

    @cached_property
    def bench(self) -> Bench:
        database = self.stack.enter_context(postgres())
        bench = Bench(database.url, self.reps, self.plans)
        self.stack.callback(bench.engine.close)
        return bench

    @cached_property
    def folder(self) -> Path:
        folder = tempfile.TemporaryDirectory(prefix="tenure-lite-")
        return Path(self.stack.enter_context(folder))


def ask(question: str, places: Places) -> None:
    match question:
        case "q4":
            q4(places.bench)
        case "q4lite":
            q4_sqlite(places.folder, places.reps)
        case "q4maria":
            with mariadb() as database:
                q4_mariadb(database.url, places.reps)
        case "q5":
            q5(places.bench)
        case "q6":
            q6(places.bench)
            q6_sqlite(places.folder, places.reps)
        case "q7":
            q7(places.bench)
        case "q9":
            with mariadb() as database:
                q9(database.url, places.reps)


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.decisions.probes", description=__doc__)
    parser.add_argument("questions", nargs="*", default=QUESTIONS, help=f"of {QUESTIONS}")
    parser.add_argument("--reps", type=int, default=9)
    parser.add_argument("--plans", action="store_true", help="print the plans of PostgreSQL")
    args = parser.parse_args()
    if unknown := set(args.questions) - set(QUESTIONS):
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    with ExitStack() as stack:
        places = Places(stack, args.reps, args.plans)
        for question in args.questions:
            ask(question, places)


if __name__ == "__main__":
    main()
