"""Keeps bytes: first the bytes, then their rows, in the caller's transaction if there is one."""

from __future__ import annotations

import mimetypes
import secrets
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, BinaryIO

from tenure.core.errors import OptionError
from tenure.files.errors import FileTooLarge, HashMismatch
from tenure.files.names import check_file_name
from tenure.files.storage.blobs import CHUNK, Blob
from tenure.files.stored_file import FileRow, StoredFile
from tenure.files.uploads import UploadRow
from tenure.stores.sql.statement import Plan

if TYPE_CHECKING:
    from tenure.files.files import Files

Data = bytes | BinaryIO | Iterable[bytes]


class Keeper:
    """`files.put`, and what becomes of a finished upload."""

    def __init__(self, files: Files) -> None:
        self._files = files

    def put(
        self,
        data: Data,
        *,
        name: str,
        media_type: str | None = None,
        tenant: str = "",
        owner: str | None = None,
        sha256: str | None = None,
        keep_seconds: float | None = None,
        tx: Any = None,
    ) -> StoredFile:
        """Keep these bytes. Equal bytes are kept once, whatever their names.

        Where nobody refers to the file it is deleted after `keep_seconds`. With `sha256` the bytes
        must have this hash.
        """
        check_file_name(name)
        if keep_seconds is not None and keep_seconds <= 0:
            raise OptionError("keep_seconds must be greater than 0")
        with self._files.blobs.begin() as incoming:
            for part in _parts(data):
                incoming.write(part)
                if incoming.size > self._files.settings.max_bytes:
                    raise FileTooLarge(self._files.settings.max_bytes)
            blob = incoming.finish()
        if sha256 is not None and sha256.lower() != blob.sha256:
            self._files.blobs.delete(blob.key)
            raise HashMismatch(f"the bytes have the SHA-256 {blob.sha256}, not {sha256}")
        keep = (
            self._files.settings.keep_micros
            if keep_seconds is None
            else int(keep_seconds * 1_000_000)
        )
        row = _row(blob, check_file_name(name), media_type or _guess(name), tenant, owner, keep)
        return self.keep(blob, row, tx)

    def keep(self, blob: Blob, row: Mapping[str, Any], tx: Any = None) -> StoredFile:
        """Rows for bytes that are stored already; a second copy of the same bytes is deleted."""
        kept = self._files.sql.plan(lambda: self._keep(blob, row), tx=tx)
        if kept.blob_key != blob.key:
            self._files.blobs.delete(blob.key)
        return kept

    def keep_upload(self, blob: Blob, upload: UploadRow) -> StoredFile:
        """The file that a finished upload has become, and the end of the upload."""
        keep = self._files.settings.keep_micros
        row = _row(blob, upload.name, upload.media_type, upload.tenant, upload.owner, keep)

        def plan() -> Plan[StoredFile]:
            file = yield from self._keep(blob, row)
            yield self._files.sql.statement("end_upload", id=upload.id, file_id=file.id)
            return file

        kept = self._files.sql.plan(plan)
        if kept.blob_key != blob.key:
            self._files.blobs.delete(blob.key)
        return kept

    def _keep(self, blob: Blob, row: Mapping[str, Any]) -> Plan[StoredFile]:
        query = self._files.sql.statement
        yield query("touch_blob", sha256=blob.sha256, blob_key=blob.key, size=blob.size)
        yield query("add_file", **row)
        [found] = yield query("get_file", id=row["id"])
        return StoredFile.of(FileRow(*found))


def _row(
    blob: Blob, name: str, media_type: str, tenant: str, owner: str | None, keep: int
) -> dict[str, Any]:
    return {
        "id": secrets.token_hex(16),
        "sha256": blob.sha256,
        "name": name,
        "media_type": media_type,
        "size": blob.size,
        "tenant": tenant,
        "owner": owner,
        "keep": keep,
    }


def _parts(data: Data) -> Iterable[bytes]:
    if isinstance(data, bytes | bytearray | memoryview):
        return (bytes(data),)
    if hasattr(data, "read"):
        return iter(lambda: data.read(CHUNK), b"")
    return data


def _guess(name: str) -> str:
    return mimetypes.guess_type(name)[0] or "application/octet-stream"
