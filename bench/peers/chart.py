"""Horizontal bars as an SVG that is readable on a light and on a dark page."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

WIDTH, LEFT, RIGHT = 760, 200, 90
BAR, GAP, HEAD, TOP = 20, 9, 44, 14
# Plain attributes say how it looks; the style only changes colours on a dark page.
FONT = 'font-family="system-ui, sans-serif" font-size="13" fill="#24292f"'
NOTE, TITLE = 'class="note" fill="#57606a" font-size="11"', 'font-weight="600" font-size="14"'
OWN, PEER = 'class="own" fill="#0969da"', 'class="peer" fill="#8c959f"'
STYLE = """
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .note { fill: #9198a1 } .own { fill: #4493f8 } .peer { fill: #656c76 }
  }
"""
Bar = tuple[str, float | None, bool]
"""A name, jobs per second (None: not measured), and whether it is ours."""


def chart(panels: Sequence[tuple[str, Sequence[Bar]]], note: str) -> str:
    """One panel under the other, each with its own scale from zero; the longest bar is full."""
    parts: list[str] = []
    top = TOP
    for title, bars in panels:
        parts += _panel(title, bars, top)
        top += HEAD + len(bars) * (BAR + GAP)
    height = top + 26
    parts.append(f'<text {NOTE} x="12" y="{height - 12}">{escape(note)}</text>')
    size = f'width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}"'
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} {FONT} role="img" '
        f'aria-label="Jobs per second of Tenure and its peers">\n<style>{STYLE}</style>\n'
        f"{body}\n</svg>\n"
    )


def _panel(title: str, bars: Sequence[Bar], top: int) -> list[str]:
    longest = max((value or 0.0 for _, value, _ in bars), default=0.0) or 1.0
    parts = [f'<text {TITLE} x="12" y="{top + 18}">{escape(title)}</text>']
    for number, bar in enumerate(bars):
        parts += _bar(bar, top + HEAD - 14 + number * (BAR + GAP), longest)
    return parts


def _bar(bar: Bar, y: int, longest: float) -> list[str]:
    name, value, own = bar
    length = (value or 0.0) / longest * (WIDTH - LEFT - RIGHT)
    text = "not measured" if value is None else f"{value:,.0f}"
    look, middle = OWN if own else PEER, y + BAR - 5
    return [
        f'<text x="{LEFT - 10}" y="{middle}" text-anchor="end">{escape(name)}</text>',
        f'<rect {look} x="{LEFT}" y="{y}" width="{length:.1f}" height="{BAR}" rx="2"/>',
        f'<text x="{LEFT + length + 8:.1f}" y="{middle}">{text}</text>',
    ]
