"""Blobs in S3, or in whatever speaks its protocol, through obstore.

An object appears when its upload is complete, so a temporary name is not needed: an unfinished
multipart upload is no object. Its key has a token of its own; the row of the blob says which key
holds which content.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

from tenure.core.errors import OptionError
from tenure.files.errors import BlobMissing
from tenure.files.storage.blobs import CHUNK, Blob, Digest, StoredBlob

if TYPE_CHECKING:
    from obstore import WritableFile
    from obstore.store import S3Store

PART = 8 * 1024 * 1024
"""Bytes of one part of a multipart upload; S3 asks for at least 5 MiB."""
OPTIONS = frozenset({"endpoint", "region", "path_style"})


class S3Blobs:
    """`s3://bucket/prefix?endpoint=http://localhost:9000&region=eu-central-1`.

    Credentials come from the usual AWS_* variables.
    """

    def __init__(self, url: str) -> None:
        self._store = _store(url)

    def begin(self) -> S3Incoming:
        """The first part is sent when it is full."""
        return S3Incoming(self._store, f"blobs/{secrets.token_hex(16)}")

    def partial(self, token: str) -> S3Partial:
        """An object for each request."""
        return S3Partial(self, self._store, f"uploads/{token}")

    def read(self, key: str, start: int = 0, end: int | None = None) -> Iterator[bytes]:
        """One request for the range; its body is streamed."""
        import obstore

        length = self.size(key) if end is None else end
        if length is None:
            raise BlobMissing(key)
        if start >= length:
            return iter(())
        try:
            found = obstore.get(self._store, key, options={"range": (start, length)})
        except FileNotFoundError:
            raise BlobMissing(key) from None
        return (bytes(part) for part in found.stream(min_chunk_size=CHUNK))

    def size(self, key: str) -> int | None:
        """By a HEAD request."""
        import obstore

        try:
            return int(obstore.head(self._store, key)["size"])
        except FileNotFoundError:
            return None

    def delete(self, key: str) -> None:
        """S3 answers alike whether it existed."""
        import obstore

        try:
            obstore.delete(self._store, key)
        except FileNotFoundError:
            return

    def stored(self) -> Iterator[StoredBlob]:
        """Page by page."""
        return self._list("blobs")

    def unfinished(self) -> Iterator[StoredBlob]:
        """Parts of uploads that go on over several requests.

        Multipart uploads that were abandoned are no objects: a lifecycle rule of the bucket ends
        them.
        """
        return self._list("uploads")

    def parts_of(self, folder: str) -> Iterator[StoredBlob]:
        """The objects of one partial upload."""
        return self._list(folder)

    def _list(self, prefix: str) -> Iterator[StoredBlob]:
        import obstore

        for page in obstore.list(self._store, prefix, chunk_size=1000):
            for found in page:
                yield StoredBlob(found["path"], int(found["size"]), found["last_modified"])


class S3Incoming:
    """One upload; parts are sent while the next one is filled."""

    def __init__(self, store: S3Store, key: str) -> None:
        import obstore

        self._digest = Digest()
        self._key = key
        self._store = store
        self._open: Callable[[], WritableFile] = lambda: obstore.open_writer(
            store, key, buffer_size=PART
        )
        self._writer: WritableFile | None = None
        self._finished = False

    @property
    def size(self) -> int:
        """Bytes written so far."""
        return self._digest.size

    def write(self, data: bytes) -> None:
        """Blocks while as many parts as allowed are under way."""
        if self._writer is None:
            self._writer = self._open()
        self._writer.write(data)
        self._digest.update(data)

    def seal(self) -> Blob:
        """The key has been known from the start."""
        return Blob(self._key, self._digest.sha256, self._digest.size)

    def finish(self) -> None:
        """Complete the upload: the object exists from here on."""
        import obstore

        if self._writer is None:
            obstore.put(self._store, self._key, b"")
        else:
            self._writer.close()
        self._finished = True

    def __enter__(self) -> S3Incoming:
        return self

    def __exit__(self, *_: object) -> None:
        """A writer that is dropped unclosed sends nothing more, and its object never appears."""
        if not self._finished:
            self._writer = None


class S3Partial:
    """Each request's bytes are an object named by its offset: `uploads/<token>/<offset>`."""

    def __init__(self, blobs: S3Blobs, store: S3Store, folder: str) -> None:
        self._blobs, self._store, self._folder = blobs, store, folder

    def append(self, offset: int, data: Iterable[bytes]) -> int:
        """The object is completed with whatever came, also where the client went away."""
        for part in self._parts():
            if self._offset(part) >= offset:
                self._blobs.delete(part.key)
        written = 0
        with S3Incoming(self._store, f"{self._folder}/{offset:020d}") as incoming:
            try:
                for one in data:
                    incoming.write(one)
            finally:
                written = incoming.size
                if written:
                    incoming.finish()
        return offset + written

    def size(self) -> int:
        """Up to the first gap: a part that was lost ends it."""
        end = 0
        for part in self._parts():
            if self._offset(part) != end:
                break
            end += part.size
        return end

    def seal(self) -> Blob:
        """Read the parts once to hash them: the size of the upload is not bound by memory."""
        digest = Digest()
        for data in self._data():
            digest.update(data)
        return Blob(f"blobs/{secrets.token_hex(16)}", digest.sha256, digest.size)

    def finish(self, blob: Blob) -> None:
        """Read the parts in order into one object; the caller removes them when a row has it."""
        with S3Incoming(self._store, blob.key) as incoming:
            for data in self._data():
                incoming.write(data)
            incoming.finish()

    def _data(self) -> Iterator[bytes]:
        size = self.size()
        for part in self._parts():
            if self._offset(part) < size:
                yield from self._blobs.read(part.key)

    def remove(self) -> None:
        """Part after part."""
        for part in self._parts():
            self._blobs.delete(part.key)

    def _parts(self) -> list[StoredBlob]:
        return sorted(self._blobs.parts_of(self._folder), key=self._offset)

    @staticmethod
    def _offset(part: StoredBlob) -> int:
        return int(part.key.rpartition("/")[2])


def _store(url: str) -> S3Store:
    try:
        from obstore.store import S3Store
    except ImportError:
        raise OptionError(
            f"{url.split('?')[0]} needs the package obstore: pip install 'tenure[s3]'"
        ) from None
    parts = urlsplit(url)
    options = dict(parse_qsl(parts.query))
    if not parts.netloc:
        raise OptionError(f"{url!r} names no bucket; write s3://bucket/prefix")
    if unknown := set(options) - OPTIONS:
        raise OptionError(
            f"{', '.join(sorted(unknown))} is not an option of s3://; there are "
            f"{', '.join(sorted(OPTIONS))}"
        )
    return S3Store(
        parts.netloc,
        prefix=parts.path.strip("/") or None,
        region=options.get("region", "us-east-1"),
        virtual_hosted_style_request=options.get("path_style", "true") == "false",
        **_endpoint(options.get("endpoint")),
    )


def _endpoint(given: str | None) -> dict[str, Any]:
    """Left out for AWS itself: the library refuses None."""
    if given is None:
        return {}
    plain = {"client_options": {"allow_http": True}} if given.startswith("http:") else {}
    return {"endpoint": given, **plain}
