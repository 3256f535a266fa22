"""The steps of firing a slot after which a program may kill itself: part and method of a store."""

from __future__ import annotations

YEAR_HOURS = 365 * 24
"""Between two slots: none comes by itself while a test runs."""
STEP = "CRASH_STEP"
STEPS = {
    "locked": ("locks", "acquire"),
    "read": ("records", "find"),
    "added": ("jobs", "add"),
    "moved on": ("records", "put"),
    "committed": ("locks", "release"),
}
