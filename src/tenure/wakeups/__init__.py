"""Hints between processes that jobs are due or have ended."""
