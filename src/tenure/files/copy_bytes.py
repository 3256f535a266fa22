"""Copies the bytes of files when their rows move to another database: `tenure move`.

Needed only where no TENURE_FILES_URL is set: then each database has a folder of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tenure.files.storage.blobs import StoredBlob
from tenure.files.storage.folder import TOKEN, FolderBlobs
from tenure.files.storage.open_blobs import open_blobs

MEGABYTE = 1_000_000


class Copied(NamedTuple):
    """How many blobs and bytes, and how many of the blobs the target had already."""

    blobs: int = 0
    size: int = 0
    known: int = 0


def copy_bytes(url: str | None, source_url: str, target_url: str, *, dry_run: bool) -> str:
    """Copy what the target lacks. Returns what was done, as a sentence; empty for nothing."""
    source, target = open_blobs(url, source_url), open_blobs(url, target_url)
    if not (isinstance(source, FolderBlobs) and isinstance(target, FolderBlobs)):
        return f"the bytes of files stay in {url}, for both databases"
    if source.folder == target.folder:
        return f"the bytes of files stay in {source.folder}, for both databases"
    copied = _copy(source, target, dry_run=dry_run)
    if not copied.blobs:
        return ""
    verb = "would copy" if dry_run else "copied"
    had = f" ({copied.known:,} were there already)" if copied.known else ""
    return (
        f"{verb} the bytes of files: {copied.blobs:,} blobs, {copied.size / MEGABYTE:,.1f} MB"
        f"{had}, from {source.folder} to {target.folder}; the programs that use the target must "
        f"see this folder: TENURE_FILES_URL={target.folder}"
    )


def _copy(source: FolderBlobs, target: FolderBlobs, *, dry_run: bool) -> Copied:
    """Bytes under a key never change, so one of the same size is the same. An upload under way
    may have grown since an earlier try.
    """
    blobs = size = known = 0
    for one in _worth_copying(source):
        blobs, size = blobs + 1, size + one.size
        if target.size(one.key) == one.size:
            known += 1
        elif not dry_run:
            target.take(one.key, source.read(one.key))
    return Copied(blobs, size, known)


def _worth_copying(source: FolderBlobs) -> Iterator[StoredBlob]:
    """Finished bytes, and those of uploads that a client may go on with."""
    yield from source.stored()
    for one in source.unfinished():
        if TOKEN.fullmatch(one.key.removeprefix("incoming/").removesuffix(".part")):
            yield one
