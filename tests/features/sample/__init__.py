"""A guestbook: a small feature with one of everything. The test beside this folder installs it."""

from tests.features.sample.feature import Guestbook as Sample

__all__ = ["Sample"]
