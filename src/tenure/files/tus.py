"""The words of tus 1.0, the protocol for uploads that can be resumed: headers in and out.

Supported are the core, creation, termination, checksum and expiration.
"""

from __future__ import annotations

import hashlib
from base64 import b64decode
from binascii import Error
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from tenure.core.errors import InputError
from tenure.files.errors import FileError

VERSION = "1.0.0"
EXTENSIONS = "creation,termination,checksum,expiration"
ALGORITHMS = ("sha1", "sha256", "md5")
OCTETS = "application/offset+octet-stream"
ANSWERED = {"tus-resumable": VERSION}
"""Every answer says the version, an error too."""


class TusError(InputError):
    """A header of the protocol is missing or wrong."""

    code = "bad_upload_request"
    headers: ClassVar = ANSWERED


class TusVersionError(FileError):
    """The client speaks another version."""

    code = "unknown_tus_version"
    headers: ClassVar = {**ANSWERED, "tus-version": VERSION}

    def __init__(self, given: str | None) -> None:
        super().__init__(f"Tus-Resumable must be {VERSION}, not {given!r}")


class TusMediaError(FileError):
    """The body of a PATCH has another media type than the protocol asks for."""

    code = "bad_upload_media_type"
    headers: ClassVar = ANSWERED

    def __init__(self, given: str | None) -> None:
        super().__init__(f"the Content-Type must be {OCTETS}, not {given!r}")


class OffsetConflict(FileError):
    """The client continues at another place than where the upload is."""

    code = "offset_conflict"
    headers: ClassVar = ANSWERED

    def __init__(self, given: int, received: int) -> None:
        super().__init__(f"the upload has {received:,} bytes; Upload-Offset says {given:,}")
        self.received = received


class ChecksumMismatch(FileError):
    """The bytes of this request are not those that the client meant; they were dropped."""

    code = "checksum_mismatch"
    headers: ClassVar = ANSWERED


class UploadLocked(FileError):
    """Another request is appending to the same upload."""

    code = "upload_locked"
    headers: ClassVar = ANSWERED


class UploadMissing(FileError):
    """No upload of this id, or none that the caller may see."""

    code = "upload_not_found"
    headers: ClassVar = ANSWERED

    def __init__(self, upload_id: str) -> None:
        super().__init__(f"there is no upload {upload_id}")


@dataclass(frozen=True, slots=True)
class Checksum:
    """What `Upload-Checksum` announces."""

    algorithm: str
    digest: bytes

    def check(self, hashed: hashlib._Hash) -> None:
        """ChecksumMismatch where the bytes have another one."""
        if hashed.digest() != self.digest:
            raise ChecksumMismatch(
                f"the bytes do not have the announced {self.algorithm}; they were dropped"
            )


def check_version(given: str | None) -> None:
    """Every request but OPTIONS names the version."""
    if given != VERSION:
        raise TusVersionError(given)


def whole_number(name: str, given: str | None) -> int:
    """A header that must be a number of bytes."""
    if given is None or not given.isascii() or not given.isdigit() or len(given) > 18:
        raise TusError(f"{name} must be a number of bytes, not {given!r}")
    return int(given)


def checksum(given: str | None) -> Checksum | None:
    """`sha1 BASE64`."""
    if given is None:
        return None
    algorithm, _, text = given.strip().partition(" ")
    if algorithm not in ALGORITHMS:
        raise TusError(f"Upload-Checksum: {algorithm!r} is not one of {', '.join(ALGORITHMS)}")
    digest = _decoded("Upload-Checksum", text)
    if len(digest) != hashlib.new(algorithm, usedforsecurity=False).digest_size:
        raise TusError(f"Upload-Checksum: the length does not fit {algorithm}")
    return Checksum(algorithm, digest)


def metadata(given: str | None) -> Mapping[str, str]:
    """`filename BASE64,filetype BASE64`; a key without a value is an empty text."""
    found: dict[str, str] = {}
    for part in (given or "").split(","):
        key, _, text = part.strip().partition(" ")
        if not key:
            continue
        if key in found:
            raise TusError(f"Upload-Metadata names {key!r} twice")
        try:
            found[key] = _decoded("Upload-Metadata", text).decode()
        except UnicodeDecodeError:
            raise TusError(f"Upload-Metadata: {key!r} is not UTF-8") from None
    return found


def _decoded(name: str, text: str) -> bytes:
    try:
        return b64decode(text, validate=True)
    except (Error, ValueError):
        raise TusError(f"{name} is not base64") from None
