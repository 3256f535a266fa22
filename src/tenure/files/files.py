"""`Files(app)`: keep bytes under a name, refer to them, read them, and let them go.

    files = Files(app)
    file = files.put(b"%PDF...", name="invoice-42.pdf", media_type="application/pdf")
    files.refer(file.id, "job", job.id)

The bytes are written first, then the rows, in the caller's transaction if there is one. After a
crash in between there are bytes that no row knows; `purge` removes them after a grace.
"""

from __future__ import annotations

import mimetypes
import secrets
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, BinaryIO

from pydantic import SecretStr

from tenure.core.errors import OptionError, TenureError
from tenure.core.page import Page
from tenure.core.scope import EVERYTHING, Scope
from tenure.feature import Feature, Problem
from tenure.files.blobs import CHUNK, Blob, Blobs
from tenure.files.errors import (
    BlobMissing,
    FileInUse,
    FileMissing,
    FileNameError,
    FileTooLarge,
    HashMismatch,
    RangeNotSatisfiable,
)
from tenure.files.links import SHORTEST_SECRET, Link, Links, shared_secret
from tenure.files.names import check_file_name
from tenure.files.open_blobs import open_blobs
from tenure.files.purge import Purge
from tenure.files.settings import FilesSettings
from tenure.files.stored_file import FileRow, StoredFile
from tenure.files.tus import (
    ChecksumMismatch,
    OffsetConflict,
    TusError,
    TusMediaError,
    TusVersionError,
    UploadLocked,
    UploadMissing,
)
from tenure.files.uploads import UploadRow, Uploads
from tenure.stores.sql.statement import Plan

Data = bytes | BinaryIO | Iterable[bytes]
LAST = 2**62
"""Later than any file, as the cursor of the first page."""


class Files(Feature):
    """The files of an app."""

    name = "files"
    tables = "tenure.files.tables"
    settings_classes = (FilesSettings,)
    problems: Mapping[type[TenureError], Problem] = {
        FileMissing: Problem(404, 3),
        FileInUse: Problem(409, 1),
        FileNameError: Problem(422, 2),
        FileTooLarge: Problem(413, 2),
        HashMismatch: Problem(422, 2),
        RangeNotSatisfiable: Problem(416, 2),
        BlobMissing: Problem(500, 1),
        TusError: Problem(400, 2),
        TusVersionError: Problem(412, 2),
        TusMediaError: Problem(415, 2),
        OffsetConflict: Problem(409, 1),
        ChecksumMismatch: Problem(460, 1),
        UploadLocked: Problem(423, 1),
        UploadMissing: Problem(404, 3),
    }

    def __init__(self, app: Any, settings: FilesSettings | None = None) -> None:
        super().__init__(app)
        self.settings = settings or FilesSettings()
        app.include(self)

    @cached_property
    def blobs(self) -> Blobs:
        """Where the bytes are."""
        return open_blobs(self.settings.url, self.app.url)

    @cached_property
    def uploads(self) -> Uploads:
        """Uploads that go on over several requests."""
        return Uploads(self)

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
        with self.blobs.begin() as incoming:
            for part in _parts(data):
                incoming.write(part)
                if incoming.size > self.settings.max_bytes:
                    raise FileTooLarge(self.settings.max_bytes)
            blob = incoming.finish()
        if sha256 is not None and sha256.lower() != blob.sha256:
            self.blobs.delete(blob.key)
            raise HashMismatch(f"the bytes have the SHA-256 {blob.sha256}, not {sha256}")
        keep = self.settings.keep_micros if keep_seconds is None else int(keep_seconds * 1_000_000)
        row = _row(blob, check_file_name(name), media_type or _guess(name), tenant, owner, keep)
        return self.keep(blob, row, tx)

    def keep(self, blob: Blob, row: Mapping[str, Any], tx: Any = None) -> StoredFile:
        """Rows for bytes that are stored already; a second copy of the same bytes is deleted."""
        kept = self.sql.plan(lambda: self._keep(blob, row), tx=tx)
        if kept.blob_key != blob.key:
            self.blobs.delete(blob.key)
        return kept

    def keep_upload(self, blob: Blob, upload: UploadRow) -> StoredFile:
        """The file that a finished upload has become, and the end of the upload."""
        keep = self.settings.keep_micros
        row = _row(blob, upload.name, upload.media_type, upload.tenant, upload.owner, keep)

        def plan() -> Plan[StoredFile]:
            file = yield from self._keep(blob, row)
            yield self.sql.statement("end_upload", id=upload.id, file_id=file.id)
            return file

        kept = self.sql.plan(plan)
        if kept.blob_key != blob.key:
            self.blobs.delete(blob.key)
        return kept

    def _keep(self, blob: Blob, row: Mapping[str, Any]) -> Plan[StoredFile]:
        query = self.sql.statement
        yield query("touch_blob", sha256=blob.sha256, blob_key=blob.key, size=blob.size)
        yield query("add_file", **row)
        [found] = yield query("get_file", id=row["id"])
        return StoredFile.of(FileRow(*found))

    def get(self, file_id: str, scope: Scope = EVERYTHING) -> StoredFile:
        """One file, where it is in the scope."""
        found = self.sql.rows(FileRow, "get_file", id=file_id)
        if not found or not scope.holds(found[0].tenant, found[0].owner):
            raise FileMissing(file_id)
        return StoredFile.of(found[0])

    def read(self, file: StoredFile, start: int = 0, end: int | None = None) -> Iterator[bytes]:
        """Its bytes from `start` up to `end` (not included)."""
        if file.blob_key is None:
            file = self.get(file.id)
        return self.blobs.read(str(file.blob_key), start, file.size if end is None else end)

    def page(
        self, scope: Scope = EVERYTHING, *, limit: int = 50, after: str | None = None
    ) -> Page[StoredFile]:
        """The files in the scope, newest first; `after` is the cursor of the page before."""
        created_at, after_id = _cursor(after)
        values: dict[str, Any] = {
            "created_at": created_at, "after": after_id, "limit": limit + 1, "owner": scope.owner,
        }  # fmt: skip
        query = "list_files"
        if scope.tenant is not None:
            query, values["tenant"] = "list_files_of_tenant", scope.tenant
        rows = self.sql.rows(FileRow, query, **values)
        more = len(rows) > limit
        last = rows[limit - 1] if more else None
        following = None if last is None else f"{last.created_at}.{last.id}"
        return Page([StoredFile.of(row) for row in rows[:limit]], following)

    def refer(self, file_id: str, kind: str, holder: str, *, tx: Any = None) -> None:
        """From now on this holder needs the file: it is not deleted before `release`."""
        self.sql.plan(lambda: self._refer(file_id, kind, holder), tx=tx)

    def _refer(self, file_id: str, kind: str, holder: str) -> Plan[None]:
        query = self.sql.statement
        if not (yield query("lock_file", id=file_id)):
            raise FileMissing(file_id)
        yield query("revive_file", id=file_id)
        yield query("add_ref", file_id=file_id, holder_kind=kind, holder_id=holder)

    def release(self, file_id: str, kind: str, holder: str, *, tx: Any = None) -> None:
        """This holder does not need it any more."""
        self.sql.run("drop_ref", file_id=file_id, holder_kind=kind, holder_id=holder, tx=tx)

    def holders(self, file_id: str) -> list[tuple[str, str]]:
        """Who refers to it: kind and id."""
        return [(kind, holder) for kind, holder in self.sql.run("refs_of", file_id=file_id)]

    def delete(self, file_id: str, scope: Scope = EVERYTHING) -> None:
        """Delete a file that nobody refers to; FileInUse where somebody does."""
        file = self.get(file_id, scope)
        if holders := self.holders(file.id):
            raise FileInUse(file.id, len(holders))
        self.sql.run("expire_file", id=file.id)

    @cached_property
    def links(self) -> Links:
        """Signs downloads. Without a secret in the settings all processes share one in a record."""
        given = self.settings.link_secret
        return Links(shared_secret(self.app.store) if given is None else _secret(given))

    def link(self, file: StoredFile, seconds: float | None = None) -> Link:
        """Access to one file for a time, for whoever has the link."""
        lasts = self.settings.link_seconds if seconds is None else seconds
        if lasts <= 0:
            raise OptionError("a link must last longer than 0 seconds")
        return Link(file.id, file.tenant, int(self.app.store.now().timestamp() + lasts))

    def linked(self, token: str) -> StoredFile:
        """The file of a signed link; FileMissing for a forged or expired one as for an unknown."""
        link = self.links.read(token, self.app.store.now().timestamp())
        if link is None:
            raise FileMissing("of this link")
        return self.get(link.file_id, Scope(link.tenant))

    def routers(self) -> Iterable[Any]:
        """`/api/files`, `/api/uploads` and `/files/{token}`."""
        from tenure.files import api

        return (api.files, api.uploads)

    def public_routers(self) -> Iterable[Any]:
        """What needs no key."""
        from tenure.files import api

        return (api.links,)

    def commands(self) -> Mapping[str, Any]:
        """`tenure files`."""
        from tenure.files.cli import files

        return {"files": files}

    def prune(self, limit: int) -> int:
        """Delete what nobody needs; called by every worker's pruning."""
        return Purge(self).rows(limit) + self.uploads.purge(limit)


def _secret(given: SecretStr) -> bytes:
    secret = given.get_secret_value().encode()
    if len(secret) < SHORTEST_SECRET:
        raise OptionError(f"TENURE_FILES_LINK_SECRET needs at least {SHORTEST_SECRET} bytes")
    return secret


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


def _cursor(after: str | None) -> tuple[int, str]:
    if after is None:
        return LAST, ""
    created_at, _, file_id = after.partition(".")
    if not created_at.isdigit():
        raise OptionError(f"{after!r} is not a cursor of a list of files")
    return int(created_at), file_id
