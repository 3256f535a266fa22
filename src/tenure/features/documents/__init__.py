"""Documents: which kinds of jobs make them, how many at a time, and how long that takes.

The words are those of document services; the engine knows nothing of them.
"""

from tenure.features.documents.feature import Documents, installed
from tenure.features.documents.settings import DocumentSettings

__all__ = ["DocumentSettings", "Documents", "installed"]
