"""Uploads that go on over several requests, in any process of the service.

A row says how large the upload will be and who may append to it now. The lock is a lease: a
process that dies while bytes come in leaves an upload that can be continued a minute later. What
has been received is what the storage has, not what a row says.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from tenure.core.errors import OptionError
from tenure.core.scope import EVERYTHING, Scope
from tenure.core.timing.clock import from_micros
from tenure.files.errors import FileTooLarge
from tenure.files.names import check_file_name, check_media_type, check_whose
from tenure.files.storage.blobs import PartialUpload
from tenure.files.stored_file import StoredFile
from tenure.files.tus import Checksum, OffsetConflict, UploadLocked, UploadMissing

if TYPE_CHECKING:
    from tenure.files.files import Files

LOCK_SECONDS = 60
RENEW_SECONDS = 20.0


class UploadRow(NamedTuple):
    """The columns of the fragment `upload`."""

    id: str
    name: str
    media_type: str
    tenant: str
    owner: str | None
    length: int
    received: int
    expires_at: int
    file_id: str | None


@dataclass(frozen=True, slots=True)
class Upload:
    """How far an upload is; `file_id` is set when it is complete."""

    id: str
    length: int
    received: int
    expires_at: datetime
    file_id: str | None = None


class Uploads:
    """`files.uploads`."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._sql = files.sql

    def begin(
        self, *, name: str, media_type: str, length: int, tenant: str = "", owner: str | None = None
    ) -> Upload:
        """A place for so many bytes; an upload of none is complete at once."""
        name, media_type = check_file_name(name), check_media_type(media_type)
        check_whose(tenant, owner)
        if length < 0:
            raise OptionError(f"an upload has 0 bytes or more, not {length}")
        if length > self._files.settings.max_bytes:
            raise FileTooLarge(self._files.settings.max_bytes)
        upload_id = secrets.token_hex(16)
        self._sql.run(
            "add_upload", id=upload_id, name=name, media_type=media_type, tenant=tenant,
            owner=owner, length=length, keep=self._files.settings.keep_micros,
        )  # fmt: skip
        return self.get(upload_id)

    def get(self, upload_id: str, scope: Scope = EVERYTHING) -> Upload:
        """As it is now; where it is in the scope."""
        row = self._completed(self._row(upload_id, scope))
        received = row.length if row.file_id else self._partial(row).size()
        return Upload(row.id, row.length, received, from_micros(row.expires_at), row.file_id)

    def append(
        self,
        upload_id: str,
        offset: int,
        data: Iterable[bytes],
        *,
        scope: Scope = EVERYTHING,
        checksum: Checksum | None = None,
    ) -> Upload:
        """Add what comes. Where `data` is cut short, what came is kept and the error goes on;
        with a checksum, which cannot be checked then, it is dropped.
        """
        row = self._row(upload_id, scope)
        if row.file_id is not None:
            raise OffsetConflict(offset, row.length)
        writer = secrets.token_hex(8)
        if not self._lock(row, writer):
            raise UploadLocked(f"another request is appending to upload {upload_id}")
        partial = self._partial(row)
        try:
            if (stored := partial.size()) != offset:
                raise OffsetConflict(offset, stored)
            received = self._receive(row, partial, offset, data, checksum, writer)
        except BaseException:
            self._unlock(row, writer, partial.size())
            raise
        self._end_request(row, writer, received)
        return self.get(upload_id)

    def remove(self, upload_id: str, scope: Scope = EVERYTHING) -> None:
        """Forget an upload; the file that it has become stays."""
        row = self._row(upload_id, scope)
        self._partial(row).remove()
        self._sql.run("remove_uploads", upload_ids=[upload_id])

    def purge(self, limit: int) -> int:
        """Remove uploads that nobody has continued for long, and finished ones."""
        expired = [upload_id for (upload_id,) in self._sql.run("expired_uploads", limit=limit)]
        for upload_id in expired:
            self._files.blobs.partial(upload_id).remove()
        if expired:
            self._sql.run("remove_uploads", upload_ids=expired)
        return len(expired)

    def _receive(
        self,
        row: UploadRow,
        partial: PartialUpload,
        offset: int,
        data: Iterable[bytes],
        checksum: Checksum | None,
        writer: str,
    ) -> int:
        hashed = None
        if checksum is not None:
            hashed = hashlib.new(checksum.algorithm, usedforsecurity=False)
        passing = self._passing(row, offset, data, hashed, writer)
        try:
            received = partial.append(offset, passing)
            if checksum is not None and hashed is not None:
                checksum.check(hashed)
        except BaseException:
            if checksum is not None:
                partial.append(offset, ())  # drops what lies behind the offset
            raise
        return received

    def _passing(
        self,
        row: UploadRow,
        offset: int,
        data: Iterable[bytes],
        hashed: hashlib._Hash | None,
        writer: str,
    ) -> Iterator[bytes]:
        """The bytes, no more than were announced, while the lock is kept."""
        left, renewed = row.length - offset, time.monotonic()
        for part in data:
            if len(part) > left:
                raise FileTooLarge(row.length)
            left -= len(part)
            if hashed is not None:
                hashed.update(part)
            yield part
            if time.monotonic() - renewed > RENEW_SECONDS:
                renewed = time.monotonic()
                if not self._lock(row, writer):
                    raise UploadLocked(f"the lock of upload {row.id} was lost")

    def _end_request(self, row: UploadRow, writer: str, received: int) -> None:
        """Complete the upload while the lock is still ours: nobody else does it meanwhile."""
        try:
            if received == row.length:
                self._complete(row)
        finally:
            self._unlock(row, writer, received)

    def _completed(self, row: UploadRow) -> UploadRow:
        """A process died after the last byte and before the file: a client that asks for the
        offset sees that all of it is there, and sends nothing more. So it is completed now.
        """
        if row.file_id is not None or self._partial(row).size() < row.length:
            return row
        writer = secrets.token_hex(8)
        if self._lock(row, writer):
            self._end_request(row, writer, row.length)
        return self._row(row.id)

    def _complete(self, row: UploadRow) -> StoredFile:
        """Bytes into their place, then the file and the end of the upload in one transaction."""
        partial = self._partial(row)
        blob = partial.seal()
        if blob.size != row.length:  # a purge was quicker
            raise UploadMissing(row.id)
        self._files.announce(blob)
        partial.finish(blob)
        file = self._files.keep_upload(blob, row)
        partial.remove()
        return file

    def _lock(self, row: UploadRow, writer: str) -> bool:
        lease = LOCK_SECONDS * 1_000_000
        return bool(self._sql.run("lock_upload", id=row.id, writer=writer, lease=lease))

    def _unlock(self, row: UploadRow, writer: str, received: int) -> None:
        keep = self._files.settings.keep_micros
        self._sql.run("unlock_upload", id=row.id, writer=writer, received=received, keep=keep)

    def _partial(self, row: UploadRow) -> PartialUpload:
        return self._files.blobs.partial(row.id)

    def _row(self, upload_id: str, scope: Scope = EVERYTHING) -> UploadRow:
        found = self._sql.rows(UploadRow, "get_upload", id=upload_id)
        if not found or not scope.holds(found[0].tenant, found[0].owner):
            raise UploadMissing(upload_id)
        return found[0]
