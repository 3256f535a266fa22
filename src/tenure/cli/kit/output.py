"""Output formats: tables on a terminal, aligned text in a pipe, JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

STATE_STYLES = {
    "queued": "cyan",
    "running": "yellow",
    "succeeded": "green",
    "failed": "red",
    "dead": "bold red",
    "canceled": "bright_black",
    "PENDING": "cyan",
    "PROCESSING": "yellow",
    "SENT": "green",
    "FAILED": "red",
}


def console() -> Console:
    """A console on the current stdout."""
    return Console(highlight=False)


def to_json(value: Any) -> str:
    """Times as the HTTP API writes them; text as it is."""
    return json.dumps(value, default=_plain, ensure_ascii=False)


def show_json(value: Any) -> None:
    """Print a value as one line of JSON."""
    typer.echo(to_json(value))


def show_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table. The first column is never wrapped, and nothing is truncated."""
    cells = [[_cell(value) for value in row] for row in rows]
    screen = console()
    if not screen.is_terminal:
        typer.echo("\n".join(aligned(columns, cells)))
        return
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    for position, column in enumerate(columns):
        table.add_column(column, overflow="fold", no_wrap=position == 0)
    for row in cells:
        table.add_row(*(Text(cell, style=STATE_STYLES.get(cell, "")) for cell in row))
    screen.print(table)


def aligned(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Rows of text with aligned columns."""
    lines = [list(columns), *map(list, rows)]
    widths = [max(len(line[place]) for line in lines) for place in range(len(columns))]
    for line in lines:
        padded = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        yield "  ".join(padded).rstrip()


def show_facts(facts: Iterable[tuple[str, object]]) -> None:
    """Print names and values, one per line. Empty values are left out."""
    known = [(name, _cell(value)) for name, value in facts if value not in (None, "")]
    width = max((len(name) for name, _ in known), default=0)
    for name, value in known:
        label = typer.style(name.ljust(width), dim=True)
        typer.echo(f"{label}  {typer.style(value, fg=_foreground(value))}")


def note(message: str) -> None:
    """Print a remark on stderr, so that stdout holds the answer alone."""
    typer.echo(message, err=True)


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%d %H:%M:%S") + f".{value.microsecond // 1000:03d}Z"
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return str(value)


def _foreground(value: str) -> str | None:
    style = STATE_STYLES.get(value)
    return None if style is None else style.rpartition(" ")[2]


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    raise TypeError(f"{type(value).__name__} has no JSON form")
