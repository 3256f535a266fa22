"""Files on each database: kept once, referred to, and deleted when nobody needs them."""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from tenure.core.errors import OptionError
from tenure.core.filter import JobFilter
from tenure.core.scope import Scope
from tenure.files.errors import (
    FileMissing,
    FileNameError,
    FileTooLarge,
    FileTooLate,
    HashMismatch,
    MediaTypeError,
)
from tenure.files.files import Files
from tenure.files.keeper import Keeper
from tenure.files.purge import Purge
from tenure.files.storage.folder import FolderBlobs
from tenure.files.stored_file import StoredFile
from tenure.testing.clock import ManualClock
from tenure.testing.conformance.actions import add_job

WRITERS = 1_000 if os.environ.get("TENURE_CHAOS") else 100


def put(files: Files, data: bytes = b"hello", name: str = "a.txt", **more: object) -> StoredFile:
    return files.put(data, name=name, **more)  # type: ignore[arg-type]


def content(files: Files, file: StoredFile) -> bytes:
    return b"".join(files.read(file))


def blobs(files: Files) -> int:
    return len(list(files.blobs.stored()))


def prune(files: Files) -> None:
    while files.prune(100):
        pass


def test_a_file_comes_back_with_its_name_and_owner(files: Files) -> None:
    file = put(files, b"%PDF", "März.pdf", tenant="acme", owner="ada")

    found = files.get(file.id)
    assert (found.name, found.media_type, found.size) == ("März.pdf", "application/pdf", 4)
    assert (found.tenant, found.owner) == ("acme", "ada")
    assert found.sha256 == hashlib.sha256(b"%PDF").hexdigest()
    assert content(files, found) == b"%PDF"
    assert b"".join(files.read(found, 1, 3)) == b"PD"


def test_every_sort_of_data_is_taken(files: Files) -> None:
    found = [put(files, data) for data in (b"same", BytesIO(b"same"), iter([b"sa", b"me"]))]  # type: ignore[arg-type]

    assert [content(files, file) for file in found] == [b"same"] * 3


def test_another_tenants_file_is_not_found(files: Files) -> None:
    file = put(files, tenant="acme")

    with pytest.raises(FileMissing, match=f"there is no file {file.id}"):
        files.get(file.id, Scope("other"))
    with pytest.raises(FileMissing):
        files.get("unknown")


def test_equal_content_is_kept_once_however_many_write_it(files: Files) -> None:
    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(lambda n: put(files, b"the same", f"{n}.txt"), range(WRITERS)))

    prune(files)
    assert len({file.id for file in found}) == WRITERS
    assert blobs(files) == 1
    assert {content(files, file) for file in found} == {b"the same"}


def test_pages_are_newest_first_and_a_tenants_own(files: Files, clock: ManualClock) -> None:
    for number in range(5):
        put(files, name=f"{number}.txt", tenant="acme" if number % 2 else "other")
        clock.advance(seconds=1)

    first = files.page(limit=3)
    second = files.page(limit=3, after=first.next)
    assert [file.name for file in [*first.rows, *second.rows]] == [
        "4.txt", "3.txt", "2.txt", "1.txt", "0.txt",
    ]  # fmt: skip
    assert second.next is None
    assert [file.name for file in files.page(Scope("acme")).rows] == ["3.txt", "1.txt"]
    with pytest.raises(OptionError, match="not a cursor"):
        files.page(after="x")


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"name": "../x"}, FileNameError, "has a path"),
        ({"sha256": "0" * 64}, HashMismatch, "not 0000"),
        ({"keep_seconds": 0}, OptionError, "greater than 0"),
        ({"media_type": "text/html\r\nX-Evil: 1"}, MediaTypeError, "not a media type"),
        ({"media_type": "text/html;\r\n\r\na=b"}, MediaTypeError, "not a media type"),
        ({"media_type": "text/html\n;a=b"}, MediaTypeError, "not a media type"),
        ({"tenant": "a\nb"}, OptionError, "control character"),
        ({"tenant": "x" * 101}, OptionError, "at most 100"),
        ({"owner": "x" * 201}, OptionError, "at most 200"),
        ({"data": "text"}, OptionError, "not of str"),
        ({"data": None}, OptionError, "not of NoneType"),
        ({"media_type": "te€t/html"}, MediaTypeError, "not a media type"),
        ({"media_type": "a/" + "b" * 300}, MediaTypeError, "not a media type"),
    ],
)
def test_what_is_refused_leaves_nothing(
    files: Files, options: dict[str, object], error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        put(files, **options)  # type: ignore[arg-type]

    assert blobs(files) == 0
    assert files.page().rows == []


@pytest.mark.parametrize(
    ("kind", "holder"), [("record", "x" * 201), ("k" * 41, "1"), ("record", None), ("", "1")]
)
def test_a_holder_that_does_not_fit_is_refused(files: Files, kind: str, holder: Any) -> None:
    file = put(files)
    with pytest.raises(OptionError, match="holder"):
        files.refer(file.id, kind, holder)
    with pytest.raises(OptionError, match="holder"):
        files.release(file.id, kind, holder)

    assert files.holders(file.id) == []


@pytest.mark.parametrize("seconds", [0, -1, math.nan, math.inf, 1e300])
def test_a_link_lasts_for_a_time_that_can_be_told(files: Files, seconds: float) -> None:
    file = put(files)
    with pytest.raises(OptionError, match="seconds must be greater than 0"):
        files.links.make(file, seconds)


def test_a_file_that_is_too_large_leaves_nothing(files: Files) -> None:
    files.settings.max_bytes = 10
    with pytest.raises(FileTooLarge, match="more than 10 bytes"):
        put(files, b"x" * 11)

    assert blobs(files) == 0
    assert list(files.blobs.unfinished()) == []


def test_a_file_of_a_transaction_that_is_rolled_back_is_not_there(files: Files) -> None:
    with pytest.raises(RuntimeError), files.app.transaction() as tx:
        put(files, tx=tx)
        raise RuntimeError

    assert files.page().rows == []


def test_a_file_that_nobody_needs_is_deleted_with_its_bytes(
    files: Files, clock: ManualClock
) -> None:
    file = put(files)
    clock.advance(seconds=101)
    prune(files)  # marked
    with pytest.raises(FileMissing):
        files.get(file.id)
    clock.advance(seconds=11)
    prune(files)  # the row
    assert blobs(files) == 1  # somebody may be reading it
    clock.advance(seconds=11)
    prune(files)

    assert blobs(files) == 0


def test_a_file_that_is_referred_to_stays(files: Files, clock: ManualClock) -> None:
    file = put(files)
    files.refer(file.id, "job", "7")
    files.refer(file.id, "job", "7")
    for _ in range(10):
        clock.advance(seconds=101)
        prune(files)

    assert content(files, files.get(file.id)) == b"hello"
    assert files.holders(file.id) == [("job", "7")]
    files.release(file.id, "job", "7")
    for _ in range(4):
        clock.advance(seconds=101)
        prune(files)
    assert blobs(files) == 0


def test_a_reference_that_comes_after_the_mark_saves_it(files: Files, clock: ManualClock) -> None:
    file = put(files)
    clock.advance(seconds=101)
    prune(files)
    files.refer(file.id, "job", "7")
    clock.advance(seconds=50)
    prune(files)

    assert content(files, files.get(file.id)) == b"hello"


def test_the_bytes_stay_while_another_file_has_them(files: Files, clock: ManualClock) -> None:
    put(files, name="first.txt")
    clock.advance(seconds=90)
    second = put(files, name="second.txt")
    clock.advance(seconds=20)
    prune(files)
    clock.advance(seconds=11)
    prune(files)
    clock.advance(seconds=11)
    prune(files)

    assert [file.name for file in files.page().rows] == ["second.txt"]
    assert content(files, second) == b"hello"


def test_the_same_content_comes_back_while_the_old_bytes_are_in_the_trash(
    files: Files, clock: ManualClock
) -> None:
    put(files)
    clock.advance(seconds=101)
    prune(files)
    clock.advance(seconds=11)
    prune(files)  # the row is gone, the bytes wait
    again = put(files)
    clock.advance(seconds=11)
    prune(files)

    assert content(files, files.get(again.id)) == b"hello"
    assert blobs(files) == 1


def test_nobody_can_refer_to_a_file_that_is_gone(files: Files) -> None:
    with pytest.raises(FileMissing):
        files.refer("unknown", "job", "7")


def test_bytes_that_a_crash_left_behind_are_swept(files: Files, clock: ManualClock) -> None:
    kept = put(files)
    with files.blobs.begin() as incoming:
        incoming.write(b"no row knows me")
        incoming.seal()
        incoming.finish()
    clock.advance(seconds=10 * 365 * 86_400)

    assert Purge(files).stray_bytes() == 1
    assert content(files, kept) == b"hello"


def test_bytes_whose_row_never_came_are_deleted(files: Files, clock: ManualClock) -> None:
    files.settings.pending_seconds = 10
    with pytest.raises(RuntimeError), files.app.transaction() as tx:
        put(files, tx=tx)
        raise RuntimeError
    assert blobs(files) == 1
    clock.advance(seconds=10 * 365 * 86_400)
    prune(files)
    Purge(files).stray_bytes()  # on SQLite, where no other transaction could announce them

    assert blobs(files) == 0


def test_a_row_that_comes_after_its_bytes_were_deleted_is_refused(
    files: Files, clock: ManualClock
) -> None:
    """However long a transaction was open: no file without its bytes."""
    files.settings.pending_seconds = 10
    with files.blobs.begin() as incoming:
        incoming.write(b"slow")
        blob = incoming.seal()
        files.announce(blob)
        incoming.finish()
    clock.advance(seconds=11)
    prune(files)
    row = {"id": "1", "sha256": blob.sha256, "name": "a", "media_type": "text/plain", "size": 4,
           "tenant": "", "owner": None, "keep": 1}  # fmt: skip

    with pytest.raises(FileTooLate, match="waited more than 10 s"):
        Keeper(files).keep(blob, row)
    assert files.page().rows == []


def test_a_deleted_file_is_not_found_at_once(files: Files, clock: ManualClock) -> None:
    file = put(files)
    token = files.links.make(file, 60).token
    files.delete(file.id)

    with pytest.raises(FileMissing):
        files.get(file.id)
    with pytest.raises(FileMissing):
        files.links.file(token)
    assert files.page().rows == []


def test_content_whose_bytes_were_lost_is_healed_by_putting_it_again(files: Files) -> None:
    lost = put(files)
    files.blobs.delete(str(lost.blob_key))
    put(files, name="again.txt")
    prune(files)

    assert content(files, files.get(lost.id)) == b"hello"


def test_what_a_crash_left_of_an_upload_is_swept(files: Files, clock: ManualClock) -> None:
    going_on = files.uploads.begin(name="a", media_type="text/plain", length=5)
    files.uploads.append(going_on.id, 0, [b"01"])
    incoming = FolderBlobs(Path(str(files.settings.url))).begin()
    incoming.write(b"half")
    incoming._file.close()  # as the end of the process does
    clock.advance(seconds=10 * 365 * 86_400)

    assert Purge(files).stray_bytes() == 1
    assert files.uploads.get(going_on.id).received == 2


def test_what_a_crash_left_of_an_upload_is_pruned(files: Files, clock: ManualClock) -> None:
    files.settings.keep_seconds = 20 * 365 * 86_400.0
    going_on = files.uploads.begin(name="a", media_type="text/plain", length=5)
    files.uploads.append(going_on.id, 0, [b"01"])
    incoming = FolderBlobs(Path(str(files.settings.url))).begin()
    incoming.write(b"half")
    incoming._file.close()  # as the end of the process does
    clock.advance(seconds=10 * 365 * 86_400)
    files.prune(100)

    assert len(list(files.blobs.unfinished())) == 1
    assert files.uploads.get(going_on.id).received == 2


def test_a_put_whose_bytes_were_pruned_meanwhile_is_told_so(
    files: Files, clock: ManualClock
) -> None:
    def slowly() -> Iterator[bytes]:
        yield b"half"
        clock.advance(seconds=10 * 365 * 86_400)
        files.prune(100)
        yield b"rest"

    with pytest.raises(FileTooLate, match="put the file again"):
        files.put(slowly(), name="a.txt")
    assert files.page().rows == []


@pytest.mark.parametrize("keep", [-1.0, float("inf"), float("nan"), 1e18])
def test_a_time_that_cannot_be_kept_is_refused(files: Files, keep: float) -> None:
    with pytest.raises(OptionError, match="at most ten years"):
        put(files, keep_seconds=keep)


def test_a_range_that_is_none_is_refused(files: Files) -> None:
    file = put(files)
    for start, end in ((-3, None), (4, 2)):
        with pytest.raises(OptionError, match="not a part of a file"):
            files.read(file, start, end)


def test_the_references_of_a_job_go_with_its_row(files: Files, clock: ManualClock) -> None:
    app = files.app
    kept, gone = (add_job(app.store) for _ in range(2))
    file = files.put(b"abc", name="a.txt")
    files.refer(file.id, "job", kept)
    files.refer(file.id, "job", gone)
    files.refer(file.id, "template", gone)
    app.cancel(gone)
    clock.advance(seconds=1)

    assert app.operator.purge(JobFilter(), clock.now()) == 1
    assert files.holders(file.id) == [("job", kept), ("template", gone)]
