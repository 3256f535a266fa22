"""`tenure move` takes the bytes of files along, where each database has a folder of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tenure import Tenure
from tenure.files import Files
from tenure.files.copy_bytes import copy_bytes
from tenure.files.storage.folder import FolderBlobs


def move(folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    ends = ["--from", f"sqlite:///{folder}/old.db", "--to", f"sqlite:///{folder}/new.db"]
    command = [sys.executable, "-m", "tenure", "move", *ends, *more]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)


def files_in(folder: Path, name: str) -> Files:
    return Files(Tenure(f"sqlite:///{folder / name}"))


def test_a_move_copies_the_bytes_and_says_where_they_are(tmp_path: Path) -> None:
    old = files_in(tmp_path, "old.db")
    kept = old.put(b"x" * 300_000, name="a.bin")
    going_on = old.uploads.begin(name="b", media_type="text/plain", length=4)
    old.uploads.append(going_on.id, 0, [b"01"])
    old.app.close()

    looked = move(tmp_path, "--dry-run")
    assert "would copy the bytes of files: 2 blobs, 0.3 MB" in looked.stdout, looked.stderr
    assert not (tmp_path / "new.db-files").exists()
    moved = move(tmp_path, "--json")

    [said] = json.loads(moved.stdout)["beside"]
    assert f"TENURE_FILES_URL={tmp_path / 'new.db-files'}" in said
    new = files_in(tmp_path, "new.db")
    assert b"".join(new.read(new.get(kept.id))) == b"x" * 300_000
    done = new.uploads.append(going_on.id, 2, [b"23"])
    assert b"".join(new.read(new.get(str(done.file_id)))) == b"0123"
    new.app.close()


def test_a_copy_goes_on_after_a_stop_and_leaves_what_others_write_alone(tmp_path: Path) -> None:
    old, new = (files_in(tmp_path, name) for name in ("old.db", "new.db"))
    for text in (b"one", b"two"):
        old.put(text, name="a.txt")
    temporary = FolderBlobs(tmp_path / "old.db-files").begin()  # of a process that died
    temporary._file.close()
    ends = (old.app.url, new.app.url)
    [first, _] = old.blobs.stored()
    copy_bytes(None, *ends, dry_run=False)
    new.blobs.delete(first.key)
    before = {one.key: one.modified_at for one in new.blobs.stored()}

    again = copy_bytes(None, *ends, dry_run=False)

    assert "2 blobs, 0.0 MB (1 were there already)" in again
    after = {one.key: one.modified_at for one in new.blobs.stored()}
    assert after.items() >= before.items() and len(after) == 2
    assert list(new.blobs.unfinished()) == []
    old.app.close()
    new.app.close()


@pytest.mark.parametrize(
    "url", ["s3://bucket/prefix", "s3://bucket?region=eu-central-1", "/srv/files"]
)
def test_a_place_that_both_use_keeps_its_bytes(url: str) -> None:
    said = copy_bytes(url, "sqlite:///old.db", "postgresql://db/jobs", dry_run=False)

    assert said == f"the bytes of files stay in {url}, for both databases"


def test_nothing_is_said_where_there_are_no_files(tmp_path: Path) -> None:
    ends = (f"sqlite:///{tmp_path}/old.db", f"sqlite:///{tmp_path}/new.db")

    assert copy_bytes(None, *ends, dry_run=False) == ""
    assert list(tmp_path.iterdir()) == []
