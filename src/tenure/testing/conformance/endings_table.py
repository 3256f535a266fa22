"""The table of endings: each way in which a job ends, on each store, at the end of a test run.

A store's author imports `pytest_terminal_summary` in `conftest.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

ENDING = "ending"
"""The property that a test records: (way, store)."""
Cells = dict[tuple[str, str], bool]


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print the table, if any of its tests ran."""
    cells = cells_of(terminalreporter.stats)
    if cells:
        terminalreporter.section("endings that a feature hears of once, in their transaction")
        for line in table(cells):
            terminalreporter.write_line(line)


def cells_of(stats: Mapping[str, Iterable[Any]]) -> Cells:
    """Whether all tests of a cell passed."""
    cells: Cells = {}
    for outcome in ("passed", "failed", "error"):
        for report in stats.get(outcome, ()):
            for name, value in getattr(report, "user_properties", ()):
                if name == ENDING:
                    way, store = value
                    cells[way, store] = cells.get((way, store), True) and outcome == "passed"
    return cells


def table(cells: Cells) -> Iterable[str]:
    """One line for each way, one column for each store; a test that did not run is a dash."""
    ways = list(dict.fromkeys(way for way, _ in cells))
    stores = sorted({store for _, store in cells})
    width = max(map(len, ways)) + 2
    yield " " * width + "".join(f"{store:>10}" for store in stores)
    for way in ways:
        marks = (_mark(cells.get((way, store))) for store in stores)
        yield f"{way:<{width}}" + "".join(f"{mark:>10}" for mark in marks)


def _mark(passed: bool | None) -> str:
    return "-" if passed is None else "ok" if passed else "FAILED"
