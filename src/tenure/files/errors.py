"""What can be wrong with a file. `feature` gives each its HTTP status and exit code."""

from __future__ import annotations

from tenure.core.errors import TenureError, UsageError


class FileError(TenureError):
    """Something is wrong with a file."""


class BlobMissing(FileError):
    """A row refers to bytes that are not there: a fault of the storage, not of the caller."""

    def __init__(self, key: str) -> None:
        super().__init__(f"the bytes of blob {key} are missing in the file storage")
        self.key = key


class FileNameError(UsageError):
    """The name of a file cannot be kept."""


class RangeNotSatisfiable(FileError):
    """The range lies outside the file."""

    def __init__(self, size: int) -> None:
        super().__init__(f"the range lies outside the file, which has {size:,} bytes")
        self.size = size
