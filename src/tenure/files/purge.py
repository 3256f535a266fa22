"""Deletes files that nobody needs, and bytes that no row knows.

A file whose time is over is marked first, and deleted after a grace if the mark is still there: a
reference that is made meanwhile takes the mark away. Its bytes follow after another grace, because
a download may be reading them. Every step may be cut short by a crash and is taken up again.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from tenure.files.storage.blobs import StoredBlob
from tenure.stores.sql.statement import Plan, Rows

if TYPE_CHECKING:
    from tenure.files.files import Files

SWEEP_PAGE = 500
A_DAY = timedelta(days=1)


class Expired(NamedTuple):
    """A file whose time is over."""

    id: str
    referred: int


class Doomed(NamedTuple):
    """A file that was marked."""

    id: str
    sha256: str


class Content(NamedTuple):
    """Bytes that some deleted file had."""

    sha256: str
    blob_key: str


class Purge:
    """`rows` is cheap and runs with every pruning; `stray_bytes` lists the whole storage."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._sql = files.sql
        self._grace = files.settings.grace_micros

    def rows(self, limit: int) -> int:
        """Mark, delete rows, delete bytes: at most `limit` of each. Answers how many in all."""
        marked = self._sql.plan(lambda: self._mark(limit))
        deleted = self._sql.plan(lambda: self._delete(limit))
        return marked + deleted + self._empty_trash(limit)

    def _mark(self, limit: int) -> Plan[int]:
        found = [Expired(*row) for row in (yield self._sql.statement("expired_files", limit=limit))]
        doomed = [one.id for one in found if not one.referred]
        needed = [one.id for one in found if one.referred]
        if needed:  # looked at again after the usual time, not with every pruning
            keep = self._files.settings.keep_micros
            yield self._sql.statement("postpone_files", file_ids=needed, keep=keep)
        if doomed:
            yield self._sql.statement("doom_files", file_ids=doomed)
        return len(found)

    def _delete(self, limit: int) -> Plan[int]:
        query = self._sql.statement
        rows = yield query("doomed_files", limit=limit, grace=self._grace)
        found = [Doomed(*row) for row in rows]
        if not found:
            return 0
        ids = [one.id for one in found]
        referred = {file_id for (file_id,) in (yield query("referred_files", file_ids=ids))}
        if referred:
            yield query("revive_files", file_ids=sorted(referred))
        gone = [one for one in found if one.id not in referred]
        if gone:
            yield query("delete_files", file_ids=[one.id for one in gone])
            yield from self._trash(sorted({one.sha256 for one in gone}))
        return len(found)

    def _trash(self, hashes: list[str]) -> Plan[None]:
        """The locks on the contents come before the look for other files that have them."""
        query = self._sql.statement
        locked = [Content(*row) for row in (yield query("lock_blobs", hashes=hashes))]
        named = {sha256 for (sha256,) in (yield query("named_blobs", hashes=hashes))}
        gone = [one for one in locked if one.sha256 not in named]
        for one in gone:
            yield query("trash_keys", blob_key=one.blob_key, grace=self._grace)
        if gone:
            yield query("delete_blobs", hashes=[one.sha256 for one in gone])

    def _empty_trash(self, limit: int) -> int:
        """Take keys out of everybody's reach first, then delete their bytes, then the rows.

        Whoever commits a file at the same time either has taken its key back, or finds it taken.
        """
        keys = [key for (key,) in self._sql.plan(lambda: self._take_trash(limit))]
        for key in keys:
            self._files.blobs.delete(key)
        if keys:
            self._sql.run("drop_trash", keys=keys)
        return len(keys)

    def _take_trash(self, limit: int) -> Plan[Rows]:
        found = yield self._sql.statement("due_trash", limit=limit)
        if found:
            yield self._sql.statement("take_trash", keys=[key for (key,) in found])
        return found

    def stray_bytes(self) -> int:
        """Delete bytes that no row knows, a day old at least: the database was restored from a
        backup, or the bytes were put there by something else.
        """
        before = self._files.app.store.now() - A_DAY
        removed = 0
        for page in _pages(self._files.blobs.stored(), before):
            known = {key for (key,) in self._sql.run("known_keys", keys=[one.key for one in page])}
            for one in page:
                if one.key not in known:
                    self._files.blobs.delete(one.key)
                    removed += 1
        return removed + self.unfinished(before)

    def left_behind(self) -> int:
        """Delete what crashes left of uploads. A writer that has written nothing for so long is
        told so when it wants to finish.
        """
        settings = self._files.settings
        seconds = settings.grace_seconds + settings.pending_seconds
        return self.unfinished(self._files.app.store.now() - timedelta(seconds=seconds))

    def unfinished(self, before: datetime) -> int:
        """Delete the bytes of uploads that nobody has continued since, and no row knows."""
        removed = 0
        for page in _pages(self._files.blobs.unfinished(), before):
            tokens = {one.key: upload_of(one.key) for one in page}
            known = self._sql.run("known_uploads", upload_ids=sorted(set(tokens.values())))
            for key, token in tokens.items():
                if (token,) not in known:
                    self._files.blobs.delete(key)
                    removed += 1
        return removed


def upload_of(key: str) -> str:
    """The upload that unfinished bytes belong to: `incoming/TOKEN.part`, `uploads/TOKEN/OFFSET`."""
    return key.split("/")[1].removesuffix(".part")


def _pages(found: Iterator[StoredBlob], before: datetime) -> Iterator[list[StoredBlob]]:
    old = (one for one in found if one.modified_at < before)
    while page := list(islice(old, SWEEP_PAGE)):
        yield page
