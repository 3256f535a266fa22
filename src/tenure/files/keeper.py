"""Keeps bytes: first the bytes, then their rows, in the caller's transaction if there is one."""

from __future__ import annotations

import mimetypes
import secrets
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, BinaryIO

from tenure.core.errors import OptionError
from tenure.files.errors import FileTooLarge, FileTooLate, HashMismatch
from tenure.files.names import check_file_name, check_media_type, check_whose
from tenure.files.storage.blobs import CHUNK, Blob
from tenure.files.stored_file import FileRow, StoredFile
from tenure.files.uploads import UploadRow
from tenure.stores.sql.statement import Plan
from tenure.stores.sql.store import sql_store

if TYPE_CHECKING:
    from tenure.files.files import Files

TEN_YEARS = 10 * 366 * 86_400
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
        name = check_file_name(name)
        check_whose(tenant, owner)
        media_type = check_media_type(media_type or _guess(name))
        keep = self._files.settings.keep_micros if keep_seconds is None else _micros(keep_seconds)
        with self._files.blobs.begin() as incoming:
            for part in _parts(data):
                incoming.write(part)
                if incoming.size > self._files.settings.max_bytes:
                    raise FileTooLarge(self._files.settings.max_bytes)
            blob = incoming.seal()
            if sha256 is not None and sha256.lower() != blob.sha256:
                raise HashMismatch(f"the bytes have the SHA-256 {blob.sha256}, not {sha256}")
            self.announce(blob, tx)
            try:
                incoming.finish()
            except FileNotFoundError:  # so long after its last byte that a purge was here
                raise FileTooLate(self._files.settings.pending_seconds) from None
        return self.keep(blob, _row(blob, name, media_type, tenant, owner, keep), tx)

    def announce(self, blob: Blob, tx: Any = None) -> None:
        """Before the bytes appear under their key: a row that deletes them again, unless the row
        of the file takes its place in time. So no crash leaves bytes behind that no row knows.

        In a transaction of its own, to be there whatever becomes of `tx`. SQLite has no room for
        a second writer: there a rollback leaves bytes to `purge --stray`.
        """
        pending = int(self._files.settings.pending_seconds * 1_000_000)
        inside = tx if sql_store(self._files.app.store).database.dialect.single_writer else None
        self._files.sql.run("trash_keys", blob_key=blob.key, grace=pending, tx=inside)

    def keep(self, blob: Blob, row: Mapping[str, Any], tx: Any = None) -> StoredFile:
        """Rows for bytes that are stored already; a second copy of them is left to the purge."""
        lost = self._lost(blob, tx)
        return self._files.sql.plan(lambda: self._keep(blob, row, lost), tx=tx)

    def _lost(self, blob: Blob, tx: Any) -> bool:
        """Whether the content is known, and its bytes are gone from the storage: then these take
        their place.
        """
        known = self._files.sql.run("find_blob", sha256=blob.sha256, tx=tx)
        return any(self._files.blobs.size(key) is None for (key,) in known)

    def keep_upload(self, blob: Blob, upload: UploadRow) -> StoredFile:
        """The file that a finished upload has become, and the end of the upload."""
        keep = self._files.settings.keep_micros
        row = _row(blob, upload.name, upload.media_type, upload.tenant, upload.owner, keep)

        lost = self._lost(blob, None)

        def plan() -> Plan[StoredFile]:
            file = yield from self._keep(blob, row, lost)
            yield self._files.sql.statement("end_upload", id=upload.id, file_id=file.id)
            return file

        return self._files.sql.plan(plan)

    def _keep(self, blob: Blob, row: Mapping[str, Any], lost: bool) -> Plan[StoredFile]:
        query = self._files.sql.statement
        if not (yield query("untrash_key", blob_key=blob.key)):
            raise FileTooLate(self._files.settings.pending_seconds)
        if lost:
            yield query("replace_blob", sha256=blob.sha256, blob_key=blob.key)
        yield query("touch_blob", sha256=blob.sha256, blob_key=blob.key, size=blob.size)
        yield query("add_file", **row)
        [found] = yield query("get_file", id=row["id"])
        kept = StoredFile.of(FileRow(*found))
        if kept.blob_key != blob.key:  # the same content was there already
            yield query("trash_keys", blob_key=blob.key, grace=0)
        return kept


def _micros(keep_seconds: float) -> int:
    if not 0 < keep_seconds <= TEN_YEARS:
        raise OptionError("keep_seconds must be greater than 0 and at most ten years")
    return int(keep_seconds * 1_000_000)


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


def _parts(data: Any) -> Iterable[bytes]:
    if isinstance(data, bytes | bytearray | memoryview):
        return (bytes(data),)
    if hasattr(data, "read"):
        return iter(lambda: data.read(CHUNK), b"")
    if isinstance(data, str) or not isinstance(data, Iterable):
        raise OptionError(
            "a file is made of bytes, an open binary file or an iterable of bytes, "
            f"not of {type(data).__name__}"
        )
    return data


def _guess(name: str) -> str:
    return mimetypes.guess_type(name)[0] or "application/octet-stream"
