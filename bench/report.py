"""All figures, each in a process of its own, as a table in RESULTS.md."""

from __future__ import annotations

import os
import platform
import re
import sqlite3
import subprocess
import sys
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pymysql

from bench.children import ROOT
from bench.databases import mariadb_server, postgres_server
from bench.result import Result

RESULTS = Path(__file__).resolve().parent / "RESULTS.md"
ROW = re.compile(r"\| ([a-z0-9-]+) \|(?! value)")
NOTE = re.compile(r"- ([a-z0-9-]+): ")
PACKAGES = ["psycopg", "asyncpg", "PyMySQL", "uvloop", "orjson", "msgspec"]


def run_all(names: list[str], scale: float) -> None:
    """Run every figure; one that breaks is reported and does not stop the others."""
    broken: list[str] = []
    for name in names:
        result = _run(name, scale)
        if result is None:
            broken.append(name)
        elif scale == 1:
            keep(result, names)
    print(f"\nwrote {RESULTS.relative_to(ROOT)}" if scale == 1 else "\na quick look: not written")
    if broken:
        raise SystemExit(f"broken: {', '.join(broken)}")


def keep(result: Result, names: list[str]) -> None:
    """Its row and its notes take the place of the earlier ones."""
    before = RESULTS.read_text().splitlines() if RESULTS.exists() else []
    rows = {found[1]: line for line in before if (found := ROW.match(line))}
    notes = [line for line in before if (found := NOTE.match(line)) and found[1] in rows]
    rows[result.bench] = _row(result)
    notes = [line for line in notes if not line.startswith(f"- {result.bench}: ")]
    notes += [f"- {result.bench}: {note}" for note in result.notes]
    place = {name: number for number, name in enumerate(names)}
    ordered = sorted(rows, key=lambda name: place.get(name, len(place)))
    RESULTS.write_text(_document([rows[name] for name in ordered], notes))


def _run(name: str, scale: float) -> Result | None:
    command = [sys.executable, "-m", "bench", name, "--scale", str(scale)]
    last = ""
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            for line in process.stdout or []:
                print(line, end="", flush=True)
                last = line
        except BaseException:
            process.terminate()  # it stops its servers; waiting for it is what `with` does
            raise
    return Result.from_json(last) if process.returncode == 0 else None


def _document(rows: list[str], notes: list[str]) -> str:
    return "\n".join(
        [
            "# Figures",
            "",
            "Written by `make bench`; `make bench-NAME ARGS=--write` measures one row anew.",
            "Medians of three triples (reference, Tenure, reference); a ratio compares within its",
            "own triple.",
            "",
            *(f"- {line}" for line in machine()),
            "",
            "| bench | value | reference | CPU µs/job, worker + server | bars | measured |",
            "|---|---|---|---|---|---|",
            *rows,
            "",
            *(["Notes", "", *notes, ""] if notes else []),
        ]
    )


def _row(result: Result) -> str:
    cpu = " + ".join(f"{part:.1f}" for part in (result.cpu_us, result.server_us) if part)
    bars = "<br>".join(map(str, result.checks))
    value = f"{number(result.value)} {result.unit}"
    when = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, load {os.getloadavg()[0]:.1f}"
    reference = number(result.reference)
    return f"| {result.bench} | {value} | {reference} | {cpu or '-'} | {bars} | {when} |"


def number(value: float) -> str:
    """As people write it."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def machine() -> list[str]:
    """Where this was measured, without naming the host."""
    gibibytes = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    return [
        f"{os.cpu_count()} cores ({_processor()}), {gibibytes:.0f} GiB, "
        f"{platform.system()} {platform.release()}, Python {platform.python_version()}",
        f"{_postgres()}, {_mariadb()}, SQLite {sqlite3.sqlite_version}; all durable",
        ", ".join(f"{name} {found}" for name in PACKAGES if (found := _version(name))),
    ]


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _postgres() -> str:
    with postgres_server() as server, psycopg.connect(server.admin_url) as connection:
        number = connection.info.server_version
    return f"PostgreSQL {number // 10_000}.{number % 10_000}"


def _mariadb() -> str:
    with mariadb_server() as server:
        parts = urlsplit(server.admin_url)
        connection = pymysql.connect(
            host=parts.hostname, port=parts.port or 3306, user=parts.username
        )
        with connection.cursor() as cursor:
            cursor.execute("SELECT VERSION()")
            (text,) = cursor.fetchone() or ("unknown",)
        connection.close()
    return f"MariaDB {str(text).partition('-')[0]}"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
