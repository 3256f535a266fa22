"""`Files(app)`: keep bytes under a name, refer to them, read them, and let them go.

    files = Files(app)
    file = files.put(b"%PDF...", name="invoice-42.pdf", media_type="application/pdf")
    files.refer(file.id, "job", job.id)

The bytes are written first, then the rows, in the caller's transaction if there is one. After a
crash in between there are bytes that no row knows; `purge` removes them after a grace.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

from tenure.core.errors import OptionError, TenureError
from tenure.core.page import Page
from tenure.core.scope import EVERYTHING, Scope
from tenure.feature import Feature, Problem, read_settings
from tenure.files.download_links import DownloadLinks
from tenure.files.errors import (
    BlobMissing,
    FileInUse,
    FileMissing,
    FileNameError,
    FileTooLarge,
    FileTooLate,
    HashMismatch,
    MediaTypeError,
    RangeNotSatisfiable,
    TooManyUploads,
    UploadStalled,
)
from tenure.files.keeper import Keeper
from tenure.files.purge import Purge
from tenure.files.references import References
from tenure.files.settings import FilesSettings
from tenure.files.storage.blobs import Blobs
from tenure.files.storage.open_blobs import open_blobs
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
from tenure.files.uploads import Uploads

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
        FileTooLate: Problem(408, 1),
        HashMismatch: Problem(422, 2),
        MediaTypeError: Problem(422, 2),
        UploadStalled: Problem(408, 1),
        TooManyUploads: Problem(503, 1),
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
        self.settings = settings or read_settings(FilesSettings)
        keeper, references = Keeper(self), References(self.sql)
        self.put, self.announce, self.keep_upload = (
            keeper.put,
            keeper.announce,
            keeper.keep_upload,
        )
        self.refer, self.release = references.refer, references.release
        self.holders = references.holders
        self.on_purge("*", references.forget_jobs)
        self.uploads = Uploads(self)
        self.links = DownloadLinks(self)
        self._next_look = 0.0
        app.include(self)

    @cached_property
    def blobs(self) -> Blobs:
        """Where the bytes are."""
        return open_blobs(self.settings.url, self.app.url)

    def get(self, file_id: str, scope: Scope = EVERYTHING) -> StoredFile:
        """One file, where it is in the scope."""
        found = self.sql.rows(FileRow, "get_file", id=file_id)
        if not found or not scope.holds(found[0].tenant, found[0].owner):
            raise FileMissing(file_id)
        return StoredFile.of(found[0])

    def read(self, file: StoredFile, start: int = 0, end: int | None = None) -> Iterator[bytes]:
        """Its bytes from `start` up to `end` (not included)."""
        if start < 0 or (end is not None and end < start):
            raise OptionError(f"bytes {start} to {end} are not a part of a file")
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

    def delete(self, file_id: str, scope: Scope = EVERYTHING) -> None:
        """Delete a file that nobody refers to; FileInUse where somebody does.

        It is not found from now on; its bytes go with a later pruning.
        """
        file = self.get(file_id, scope)
        if holders := self.holders(file.id):
            raise FileInUse(file.id, len(holders))
        self.sql.run("doom_files", file_ids=[file.id])

    def routers(self) -> Iterable[Any]:
        """`/api/files` and `/api/uploads`."""
        from tenure.files import api

        return (api.files, api.uploads)

    def public_routers(self) -> Iterable[Any]:
        """`/files/{token}`: downloads by a signed link."""
        from tenure.files import api

        return (api.links,)

    def commands(self) -> Mapping[str, Any]:
        """`tenure files`."""
        from tenure.files.cli import files

        return {"files": files}

    def move_beside(self, source_url: str, target_url: str, *, dry_run: bool) -> str:
        """The bytes, where each database has a folder of its own."""
        from tenure.files.copy_bytes import copy_bytes

        return copy_bytes(self.settings.url, source_url, target_url, dry_run=dry_run)

    def prune(self, limit: int) -> int:
        """Delete what nobody needs; called by every worker's pruning."""
        purge = Purge(self)
        removed = purge.rows(limit) + self.uploads.purge(limit)
        # Lists a part of the storage, which is a request to S3: not with every pruning.
        if time.monotonic() >= self._next_look:
            self._next_look = time.monotonic() + self.settings.pending_seconds / 4
            removed += purge.left_behind()
        return removed


def _cursor(after: str | None) -> tuple[int, str]:
    if after is None:
        return LAST, ""
    created_at, _, file_id = after.partition(".")
    if not created_at.isdigit():
        raise OptionError(f"{after!r} is not a cursor of a list of files")
    return int(created_at), file_id
