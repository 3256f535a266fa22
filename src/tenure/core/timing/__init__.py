"""Clocks, budgets and pauses."""
