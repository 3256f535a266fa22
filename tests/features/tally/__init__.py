"""A tally: a feature that counts ended jobs, in the transactions that end them."""

from tests.features.tally.feature import KIND, Tally

__all__ = ["KIND", "Tally"]
