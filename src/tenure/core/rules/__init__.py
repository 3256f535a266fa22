"""Decisions as pure functions: retry, recovery, shares, limits, order, retention."""
