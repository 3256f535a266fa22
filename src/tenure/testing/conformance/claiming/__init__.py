"""Claiming jobs: what is due, in which order, within which limits."""
