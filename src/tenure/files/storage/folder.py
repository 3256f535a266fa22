"""Blobs in a folder: `blobs/ab/<sha256>-<token>`, written to `incoming/` and renamed."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from tenure.files.errors import BlobMissing
from tenure.files.storage.blobs import CHUNK, Blob, Digest, StoredBlob

KEY = re.compile(r"blobs/[0-9a-f]{2}/[0-9a-f]{64}-[0-9a-f]{16}|incoming/[0-9a-f]{16,32}\.part")
TOKEN = re.compile(r"[0-9a-f]{32}")


class FolderBlobs:
    """A folder on a disk that every process of the service shares."""

    def __init__(self, root: Path) -> None:
        self._root = root

    @property
    def folder(self) -> Path:
        """Its whole path."""
        return self._root.resolve()

    def take(self, key: str, data: Iterable[bytes]) -> None:
        """Keep bytes under the key that they have in another folder."""
        self._path(key)  # one of ours
        with self.begin() as incoming:
            for part in data:
                incoming.write(part)
            incoming.seal()
            incoming.finish_as(key)

    def begin(self) -> FolderIncoming:
        """The folder is made at the first upload, readable by its owner alone."""
        incoming = self._root / "incoming"
        incoming.mkdir(mode=0o700, parents=True, exist_ok=True)
        return FolderIncoming(self._root, incoming / f"{secrets.token_hex(8)}.part")

    def partial(self, token: str) -> FolderPartial:
        """One temporary file for all of its requests."""
        if not TOKEN.fullmatch(token):
            raise BlobMissing(token)
        return FolderPartial(self._root, self._root / "incoming" / f"{token}.part")

    def read(self, key: str, start: int = 0, end: int | None = None) -> Iterator[bytes]:
        """A missing one is known at once; the file is opened when the first byte is asked for."""
        if self.size(key) is None:
            raise BlobMissing(key)
        return _chunks(self._path(key), start, end)

    def size(self, key: str) -> int | None:
        """From the directory entry."""
        try:
            return self._path(key).stat().st_size
        except FileNotFoundError:
            return None

    def delete(self, key: str) -> None:
        """Its folder stays: others may be about to write there."""
        self._path(key).unlink(missing_ok=True)

    def stored(self) -> Iterator[StoredBlob]:
        """In the order of the file system."""
        return self._list("blobs/*/*")

    def unfinished(self) -> Iterator[StoredBlob]:
        """Temporary files, of crashed uploads and of running ones."""
        return self._list("incoming/*.part")

    def _list(self, pattern: str) -> Iterator[StoredBlob]:
        for path in self._root.glob(pattern):
            key = path.relative_to(self._root).as_posix()
            try:
                known = path.stat()
            except FileNotFoundError:  # renamed or deleted since the directory was read
                continue
            if KEY.fullmatch(key):
                yield StoredBlob(key, known.st_size, datetime.fromtimestamp(known.st_mtime, UTC))

    def _path(self, key: str) -> Path:
        """A key comes from our own rows; one that is not ours must not leave the folder."""
        if not KEY.fullmatch(key):
            raise BlobMissing(key)
        return self._root / key


class FolderIncoming:
    """One temporary file."""

    def __init__(self, root: Path, path: Path) -> None:
        self._root, self._path = root, path
        self._digest = Digest()
        self._blob = _named(self._digest)
        self._file = os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")

    @property
    def size(self) -> int:
        """Bytes written so far."""
        return self._digest.size

    def write(self, data: bytes) -> None:
        """Buffered; durable at `finish`."""
        self._file.write(data)
        self._digest.update(data)

    def seal(self) -> Blob:
        """Bytes first, then their name: after a crash a name always has all of its bytes."""
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        self._blob = _named(self._digest)
        return self._blob

    def finish(self) -> None:
        """Rename the temporary file."""
        _into_place(self._root, self._path, self._blob)

    def finish_as(self, key: str) -> None:
        """Rename it to a key that was made elsewhere."""
        _into_place(self._root, self._path, replace(self._blob, key=key))

    def __enter__(self) -> FolderIncoming:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        self._path.unlink(missing_ok=True)  # renamed where it was finished


class FolderPartial:
    """A temporary file that grows from request to request."""

    def __init__(self, root: Path, path: Path) -> None:
        self._root, self._path = root, path

    def append(self, offset: int, data: Iterable[bytes]) -> int:
        """Durable when this returns or raises: a client that is told an offset may rely on it."""
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(self._path, os.O_WRONLY | os.O_CREAT, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.truncate(offset)
            file.seek(offset)
            try:
                for part in data:
                    file.write(part)
            finally:
                file.flush()
                os.fsync(handle)
            return file.tell()

    def size(self) -> int:
        """Nothing was appended yet: no file."""
        try:
            return self._path.stat().st_size
        except FileNotFoundError:
            return 0

    def seal(self) -> Blob:
        """Hash the whole file. After a crash before `finish` that is done again."""
        self.append(self.size(), ())  # an empty upload has no file yet
        digest = Digest()
        with self._path.open("rb") as file:
            while data := file.read(CHUNK):
                digest.update(data)
        return _named(digest)

    def finish(self, blob: Blob) -> None:
        """Rename the temporary file."""
        _into_place(self._root, self._path, blob)

    def remove(self) -> None:
        """One file."""
        self._path.unlink(missing_ok=True)


def _named(digest: Digest) -> Blob:
    key = f"blobs/{digest.sha256[:2]}/{digest.sha256}-{secrets.token_hex(8)}"
    return Blob(key, digest.sha256, digest.size)


def _into_place(root: Path, path: Path, blob: Blob) -> None:
    target = root / blob.key
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.rename(target)
    _sync_folder(target.parent)


def _chunks(path: Path, start: int, end: int | None) -> Iterator[bytes]:
    with path.open("rb") as file:
        file.seek(start)
        left = None if end is None else end - start
        while left is None or left > 0:
            data = file.read(CHUNK if left is None else min(CHUNK, left))
            if not data:
                return
            if left is not None:
                left -= len(data)
            yield data


def _sync_folder(folder: Path) -> None:
    """Without it a power cut may forget the rename."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
