"""Uploads that go on over several requests, on each database."""

from __future__ import annotations

import hashlib
import os
import random
from base64 import b64encode
from collections.abc import Iterator
from typing import Any

import pytest

from tenure.core.errors import OptionError
from tenure.core.scope import Scope
from tenure.files.errors import FileNameError, FileTooLarge
from tenure.files.files import Files
from tenure.files.tus import (
    Checksum,
    ChecksumMismatch,
    OffsetConflict,
    TusError,
    TusVersionError,
    UploadLocked,
    UploadMissing,
    check_version,
    checksum,
    metadata,
    whole_number,
)
from tenure.files.uploads import Upload
from tenure.testing.clock import ManualClock


def begin(files: Files, length: int, name: str = "a.bin", tenant: str = "") -> Upload:
    return files.uploads.begin(
        name=name, media_type="application/octet-stream", length=length, tenant=tenant
    )


def cut(data: bytes) -> Iterator[bytes]:
    yield data
    raise ConnectionError


def test_an_upload_becomes_a_file_when_it_is_complete(files: Files) -> None:
    upload = begin(files, 10, "März.bin", tenant="acme")
    half = files.uploads.append(upload.id, 0, [b"01234"])
    assert (half.received, half.file_id) == (5, None)
    done = files.uploads.append(upload.id, 5, [b"567", b"89"])

    assert done.received == 10
    file = files.get(str(done.file_id), Scope("acme"))
    assert (file.name, b"".join(files.read(file))) == ("März.bin", b"0123456789")
    assert list(files.blobs.unfinished()) == []


def test_an_upload_that_cannot_be_is_refused(files: Files) -> None:
    with pytest.raises(OptionError, match="0 bytes or more"):
        begin(files, -1)
    with pytest.raises(OptionError, match="control character"):
        begin(files, 1, tenant="a\nb")


def test_an_upload_that_is_cut_at_random_offsets_is_resumed(files: Files) -> None:
    data, chance = os.urandom(200_000), random.Random(7)
    upload = begin(files, len(data))
    for _ in range(30):
        offset = files.uploads.get(upload.id).received
        piece = data[offset : offset + chance.randrange(0, 10_000)]
        with pytest.raises(ConnectionError):
            files.uploads.append(upload.id, offset, cut(piece))
    offset = files.uploads.get(upload.id).received
    done = files.uploads.append(upload.id, offset, [data[offset:]])

    file = files.get(str(done.file_id))
    assert file.sha256 == hashlib.sha256(data).hexdigest()


def test_an_upload_whose_process_died_before_the_file_is_completed_by_who_asks(
    files: Files,
) -> None:
    """A client that sees its last offset sends nothing more."""
    upload = begin(files, 4)
    files.blobs.partial(upload.id).append(0, [b"0123"])

    found = files.uploads.get(upload.id)

    assert (found.received, b"".join(files.read(files.get(str(found.file_id))))) == (4, b"0123")
    assert files.uploads.get(upload.id) == found
    assert list(files.blobs.unfinished()) == []


def test_an_upload_that_another_request_completes_is_left_to_it(files: Files) -> None:
    upload = begin(files, 4)
    files.blobs.partial(upload.id).append(0, [b"0123"])
    files.sql.run("lock_upload", id=upload.id, writer="other", lease=60_000_000)

    assert files.uploads.get(upload.id).file_id is None


def test_an_upload_whose_bytes_a_purge_took_does_not_become_an_empty_file(
    files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    upload = begin(files, 4)
    receive = files.uploads._receive

    def receive_and_lose(*given: Any) -> int:
        received = receive(*given)
        files.blobs.partial(upload.id).remove()
        return received

    monkeypatch.setattr(files.uploads, "_receive", receive_and_lose)
    with pytest.raises(UploadMissing):
        files.uploads.append(upload.id, 0, [b"0123"])
    assert files.page().rows == []


def test_an_empty_upload_is_complete_at_once(files: Files) -> None:
    assert files.get(str(begin(files, 0).file_id)).size == 0


def test_an_offset_that_does_not_fit_is_refused(files: Files) -> None:
    upload = begin(files, 10)
    files.uploads.append(upload.id, 0, [b"01234"])
    for offset in (0, 4, 6, 11):
        with pytest.raises(OffsetConflict, match="the upload has 5 bytes"):
            files.uploads.append(upload.id, offset, [b"x"])

    assert files.uploads.get(upload.id).received == 5


def test_a_finished_upload_takes_nothing_more(files: Files) -> None:
    upload = begin(files, 2)
    files.uploads.append(upload.id, 0, [b"ok"])

    with pytest.raises(OffsetConflict):
        files.uploads.append(upload.id, 2, [b"more"])


def test_more_bytes_than_announced_are_refused(files: Files) -> None:
    upload = begin(files, 4)

    with pytest.raises(FileTooLarge, match="more than 4 bytes"):
        files.uploads.append(upload.id, 0, [b"01", b"2345"])
    assert files.uploads.get(upload.id).received == 2


def test_bytes_with_another_checksum_are_dropped(files: Files) -> None:
    upload = begin(files, 4)
    wrong = Checksum("sha1", hashlib.sha1(b"other", usedforsecurity=False).digest())

    with pytest.raises(ChecksumMismatch, match="they were dropped"):
        files.uploads.append(upload.id, 0, [b"0123"], checksum=wrong)
    assert files.uploads.get(upload.id).received == 0
    right = Checksum("sha256", hashlib.sha256(b"0123").digest())
    assert files.uploads.append(upload.id, 0, [b"0123"], checksum=right).file_id


def test_one_request_at_a_time_may_append(files: Files, clock: ManualClock) -> None:
    upload = begin(files, 4)

    def slowly() -> Iterator[bytes]:
        yield b"01"
        with pytest.raises(UploadLocked, match="another request"):
            files.uploads.append(upload.id, 0, [b"xx"])
        yield b"23"

    done = files.uploads.append(upload.id, 0, slowly())
    assert b"".join(files.read(files.get(str(done.file_id)))) == b"0123"


def test_the_lock_of_a_process_that_died_runs_out(files: Files, clock: ManualClock) -> None:
    upload = begin(files, 4)
    files.sql.run("lock_upload", id=upload.id, writer="dead", lease=60_000_000)
    with pytest.raises(UploadLocked):
        files.uploads.append(upload.id, 0, [b"0123"])
    clock.advance(seconds=61)

    assert files.uploads.append(upload.id, 0, [b"0123"]).file_id


def test_another_tenants_upload_is_not_found(files: Files) -> None:
    upload = begin(files, 4, tenant="acme")

    for call in (files.uploads.get, files.uploads.remove):
        with pytest.raises(UploadMissing):
            call(upload.id, Scope("other"))
    with pytest.raises(UploadMissing):
        files.uploads.append(upload.id, 0, [b"x"], scope=Scope("other"))


def test_an_upload_is_removed_with_its_bytes(files: Files, clock: ManualClock) -> None:
    first, second = begin(files, 4), begin(files, 4)
    files.uploads.append(first.id, 0, [b"01"])
    files.uploads.append(second.id, 0, [b"01"])
    files.uploads.remove(first.id)
    clock.advance(seconds=101)
    files.prune(100)

    assert list(files.blobs.unfinished()) == []
    for one in (first, second):
        with pytest.raises(UploadMissing):
            files.uploads.get(one.id)


def test_a_wrong_beginning_writes_nothing(files: Files) -> None:
    files.settings.max_bytes = 10
    with pytest.raises(FileTooLarge):
        begin(files, 11)
    with pytest.raises(FileNameError):
        begin(files, 1, "a/b")


def test_headers_are_read() -> None:
    name = b64encode("März.pdf".encode()).decode()
    assert metadata(f"filename {name},flag") == {"filename": "März.pdf", "flag": ""}
    assert metadata(None) == {}
    digest = hashlib.sha1(b"x", usedforsecurity=False).digest()
    assert checksum(f"sha1 {b64encode(digest).decode()}") == Checksum("sha1", digest)
    assert checksum(None) is None
    assert whole_number("Upload-Length", "12") == 12
    check_version("1.0.0")


@pytest.mark.parametrize(
    ("read", "said"),
    [
        (lambda: whole_number("Upload-Offset", None), "Upload-Offset must be a number"),
        (lambda: whole_number("Upload-Offset", "-1"), "not '-1'"),
        (lambda: whole_number("Upload-Offset", "9" * 19), "must be a number"),
        (lambda: checksum("crc32 AAAA"), "'crc32' is not one of sha1"),
        (lambda: checksum("sha1 ???"), "is not base64"),
        (lambda: checksum("sha1 AAAA"), "length does not fit"),
        (lambda: metadata("filename ???"), "is not base64"),
        (lambda: metadata("filename /w=="), "is not UTF-8"),
        (lambda: metadata("a QQ==,a QQ=="), "names 'a' twice"),
    ],
)
def test_wrong_headers_say_what_is_wrong(read: object, said: str) -> None:
    with pytest.raises(TusError, match=said):
        read()  # type: ignore[operator]


def test_another_version_is_refused() -> None:
    with pytest.raises(TusVersionError, match=r"must be 1\.0\.0, not '0\.2\.2'"):
        check_version("0.2.2")
