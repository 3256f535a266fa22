"""What can be wrong with a file. `feature` gives each its HTTP status and exit code."""

from __future__ import annotations

from tenure.core.errors import InputError, TenureError


class FileError(TenureError):
    """Something is wrong with a file."""

    code = "file_error"


class BlobMissing(FileError):
    """A row refers to bytes that are not there: a fault of the storage, not of the caller."""

    code = "blob_missing"

    def __init__(self, key: str) -> None:
        super().__init__(f"the bytes of blob {key} are missing in the file storage")
        self.key = key


class FileNameError(InputError):
    """The name of a file cannot be kept."""

    code = "bad_file_name"


class RangeNotSatisfiable(FileError):
    """The range lies outside the file."""

    code = "range_not_satisfiable"

    def __init__(self, size: int) -> None:
        super().__init__(f"the range lies outside the file, which has {size:,} bytes")
        self.headers = {"content-range": f"bytes */{size}"}


class FileMissing(FileError):
    """No file of this id, or none that the caller may see."""

    code = "file_not_found"

    def __init__(self, file_id: str) -> None:
        super().__init__(f"there is no file {file_id}")
        self.file_id = file_id


class FileTooLarge(FileError):
    """More bytes than allowed, or than were announced."""

    code = "file_too_large"

    def __init__(self, limit: int) -> None:
        super().__init__(f"the file has more than {limit:,} bytes, which is the limit here")
        self.limit = limit


class FileTooLate(FileError):
    """The transaction of a file committed so late that its bytes are gone; put it again."""

    code = "file_too_late"

    def __init__(self, seconds: float) -> None:
        super().__init__(
            f"the bytes of the file waited more than {seconds:g} s for their row and were deleted; "
            "put the file again"
        )


class HashMismatch(FileError):
    """The bytes are not those that were announced."""

    code = "hash_mismatch"


class FileInUse(FileError):
    """Somebody refers to the file, so it cannot be deleted."""

    code = "file_in_use"

    def __init__(self, file_id: str, holders: int) -> None:
        super().__init__(f"file {file_id} is in use by {holders:,}: jobs, records or templates")


class MediaTypeError(InputError):
    """The media type is not one."""

    code = "bad_media_type"

    def __init__(self, given: str) -> None:
        super().__init__(f"{given[:100]!r} is not a media type such as application/pdf")


class UploadStalled(FileError):
    """The client sent nothing for too long."""

    code = "upload_stalled"

    def __init__(self, seconds: float) -> None:
        super().__init__(f"no bytes came for {seconds:g} s")


class TooManyUploads(FileError):
    """This process receives as many uploads as it may."""

    code = "too_many_uploads"
    retryable = True

    def __init__(self, most: int) -> None:
        super().__init__(f"this process receives {most} uploads already; try again")
