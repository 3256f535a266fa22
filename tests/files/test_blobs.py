"""What every place for bytes promises."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tenure.core.errors import OptionError
from tenure.files.errors import BlobMissing
from tenure.files.storage.blobs import Blob, Blobs, PartialUpload
from tenure.files.storage.folder import FolderBlobs
from tenure.files.storage.s3 import S3Blobs


def put(blobs: Blobs, *parts: bytes) -> Blob:
    with blobs.begin() as incoming:
        for part in parts:
            incoming.write(part)
        blob = incoming.seal()
        incoming.finish()
    return blob


def finished(partial: PartialUpload) -> Blob:
    blob = partial.seal()
    partial.finish(blob)
    return blob


def test_bytes_come_back_as_they_went_in(blobs: Blobs) -> None:
    blob = put(blobs, b"one, ", b"two")

    assert (blob.size, blob.sha256) == (8, hashlib.sha256(b"one, two").hexdigest())
    assert b"".join(blobs.read(blob.key)) == b"one, two"
    assert blobs.size(blob.key) == 8


def test_a_range_is_read_alone(blobs: Blobs) -> None:
    key = put(blobs, bytes(range(256)) * 4096).key

    assert b"".join(blobs.read(key, 250, 260)) == bytes([250, 251, 252, 253, 254, 255, 0, 1, 2, 3])
    assert b"".join(blobs.read(key, 256 * 4096 - 2)) == b"\xfe\xff"


def test_an_empty_file_is_a_file(blobs: Blobs) -> None:
    blob = put(blobs)

    assert (blob.size, blobs.size(blob.key), b"".join(blobs.read(blob.key))) == (0, 0, b"")


def test_more_than_one_part_of_a_multipart_upload(blobs: Blobs) -> None:
    part = os.urandom(1024 * 1024)
    blob = put(blobs, *[part] * 18)

    digest = hashlib.sha256()
    for data in blobs.read(blob.key):
        digest.update(data)
    assert (blob.size, blob.sha256) == (18 * 1024 * 1024, digest.hexdigest())


def test_an_upload_that_is_left_unfinished_leaves_nothing(blobs: Blobs) -> None:
    with pytest.raises(RuntimeError), blobs.begin() as incoming:
        incoming.write(b"half")
        raise RuntimeError

    assert list(blobs.stored()) == []
    assert list(blobs.unfinished()) == []


def test_a_deleted_key_is_gone_and_may_be_deleted_again(blobs: Blobs) -> None:
    key = put(blobs, b"gone").key
    blobs.delete(key)
    blobs.delete(key)

    assert blobs.size(key) is None
    with pytest.raises(BlobMissing, match="missing in the file storage"):
        list(blobs.read(key))


def test_the_same_content_at_the_same_time_has_keys_of_its_own(blobs: Blobs) -> None:
    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(lambda _: put(blobs, b"the same"), range(32)))

    assert len({blob.key for blob in found}) == 32
    assert {blob.sha256 for blob in found} == {hashlib.sha256(b"the same").hexdigest()}
    assert {one.key for one in blobs.stored()} == {blob.key for blob in found}


def test_a_folder_lists_what_a_crash_left_behind(tmp_path: Path) -> None:
    blobs = FolderBlobs(tmp_path)
    incoming = blobs.begin()
    incoming.write(b"half")
    incoming._file.close()  # as the end of the process does

    (left,) = blobs.unfinished()
    blobs.delete(left.key)
    assert list(tmp_path.rglob("*.part")) == []


def test_a_folder_is_readable_by_its_owner_alone(tmp_path: Path) -> None:
    key = put(FolderBlobs(tmp_path / "files"), b"secret").key

    path = tmp_path / "files" / key
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("key", ["../../etc/passwd", "/etc/passwd", "blobs/../../x", "blobs/ab/x"])
def test_a_key_never_leaves_the_folder(tmp_path: Path, key: str) -> None:
    with pytest.raises(BlobMissing):
        list(FolderBlobs(tmp_path).read(key))


@pytest.mark.parametrize(
    ("url", "said"),
    [("s3:///prefix", "names no bucket"), ("s3://b/p?retries=3", "retries is not an option")],
)
def test_a_wrong_s3_url_says_what_is_wrong(url: str, said: str) -> None:
    with pytest.raises(OptionError, match=said):
        S3Blobs(url)


def cut(*parts: bytes) -> Iterator[bytes]:
    yield from parts
    raise ConnectionError


def test_an_upload_goes_on_where_its_connection_was_cut(blobs: Blobs) -> None:
    token = "ab" * 16
    with pytest.raises(ConnectionError):
        blobs.partial(token).append(0, cut(b"one, ", b"two, "))

    assert blobs.partial(token).size() == 10
    assert blobs.partial(token).append(10, [b"three"]) == 15
    blob = finished(blobs.partial(token))
    assert b"".join(blobs.read(blob.key)) == b"one, two, three"
    assert (blob.size, blob.sha256) == (15, hashlib.sha256(b"one, two, three").hexdigest())


def test_bytes_behind_the_offset_are_dropped(blobs: Blobs) -> None:
    """A client that was told 4 sends from 4, whatever else had reached the disk."""
    partial = blobs.partial("cd" * 16)
    partial.append(0, [b"0123"])
    partial.append(4, [b"lost"])
    partial.append(4, [b"4567"])

    assert b"".join(blobs.read(finished(partial).key)) == b"01234567"


def test_a_partial_upload_is_listed_until_it_is_removed(blobs: Blobs) -> None:
    partial = blobs.partial("ef" * 16)
    partial.append(0, [b"half"])
    assert [one.size for one in blobs.unfinished()] == [4]
    partial.remove()
    partial.remove()

    assert list(blobs.unfinished()) == []
    assert partial.size() == 0


def test_an_empty_partial_upload_is_an_empty_file(blobs: Blobs) -> None:
    blob = finished(blobs.partial("01" * 16))

    assert (blob.size, blobs.size(blob.key)) == (0, 0)
