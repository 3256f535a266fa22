"""What a place for bytes promises. It knows keys and bytes; names and references are rows.

A key is made when an upload is finished and never used again: bytes under a key do not change, and
a key that was deleted does not come back. Deleting by key is therefore safe against an upload of
the same content that happens at the same time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

CHUNK = 256 * 1024
"""Bytes read at a time: large enough for throughput, small enough for a thousand downloads."""


@dataclass(frozen=True, slots=True)
class Blob:
    """Finished bytes: where they are and what they are."""

    key: str
    sha256: str
    size: int


@dataclass(frozen=True, slots=True)
class StoredBlob:
    """A key that exists, as a listing shows it."""

    key: str
    size: int
    modified_at: datetime


class Incoming(Protocol):
    """Bytes on their way in. Use it in a `with` block: leaving it unfinished removes the bytes."""

    @property
    def size(self) -> int:
        """Bytes written so far."""
        ...

    def write(self, data: bytes) -> None:
        """Append."""
        ...

    def seal(self) -> Blob:
        """No more bytes: what they are, and the key that they will have."""
        ...

    def finish(self) -> None:
        """Make the sealed bytes durable under their key."""
        ...

    def __enter__(self) -> Incoming: ...

    def __exit__(self, *_: object) -> None: ...


class PartialUpload(Protocol):
    """An upload that goes on over several requests, and over several processes.

    Who may append at a time is the caller's affair: a row says it, see `uploads`.
    """

    def append(self, offset: int, data: Iterable[bytes]) -> int:
        """Add what comes, from `offset` on; what lay behind it is dropped. Answers the new size.

        Where `data` raises, what came before is kept and the error goes on to the caller.
        """
        ...

    def size(self) -> int:
        """Bytes that are stored."""
        ...

    def seal(self) -> Blob:
        """No more bytes: what they are, and the key that they will have."""
        ...

    def finish(self, blob: Blob) -> None:
        """Make the sealed bytes durable under their key."""
        ...

    def remove(self) -> None:
        """Delete what there is; nothing to delete is no error."""
        ...


class Blobs(Protocol):
    """A place for bytes. Every method may be called from any thread."""

    def begin(self) -> Incoming:
        """Start an upload under a temporary name."""
        ...

    def partial(self, token: str) -> PartialUpload:
        """The partial upload of this name: 32 hex digits."""
        ...

    def read(self, key: str, start: int = 0, end: int | None = None) -> Iterator[bytes]:
        """The bytes from `start` up to `end` (not included); BlobMissing where there are none."""
        ...

    def size(self, key: str) -> int | None:
        """How many bytes the key has; None where it does not exist."""
        ...

    def delete(self, key: str) -> None:
        """Remove the key. One that does not exist is no error: a crash may come after a delete."""
        ...

    def stored(self) -> Iterator[StoredBlob]:
        """Every finished key."""
        ...

    def unfinished(self) -> Iterator[StoredBlob]:
        """Uploads that were started and not finished, by keys that `delete` accepts."""
        ...


class Digest:
    """Size and SHA-256 of what passes by."""

    __slots__ = ("_hash", "size")

    def __init__(self) -> None:
        self._hash = hashlib.sha256()
        self.size = 0

    def update(self, data: bytes) -> None:
        """Count and hash."""
        self._hash.update(data)
        self.size += len(data)

    @property
    def sha256(self) -> str:
        """Of everything so far, in hex."""
        return self._hash.hexdigest()
