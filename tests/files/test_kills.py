"""Processes that keep, upload, refer to and purge files are killed at random points of that: no
reference is without its bytes, and no bytes are left that nobody refers to.
"""

from __future__ import annotations

import hashlib
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tenure import Settings, Tenure
from tenure.files import Files, FilesSettings, StoredFile
from tests.files.dying import LIVES
from tests.support.databases import Databases
from tests.support.until import until

KILLS = 100 if os.environ.get("TENURE_CHAOS") else 8
TOGETHER = 4
MOST_CALLS = 60_000
"""Some hundred steps of a process. Most die earlier, inside one of the first."""


def start(url: str, folder: Path, chance: random.Random) -> subprocess.Popen[bytes]:
    calls = int(MOST_CALLS ** chance.random())
    program = [sys.executable, "-m", "tests.files.dying", url, str(folder)]
    return subprocess.Popen([*program, str(chance.random()), str(calls)])


def all_files(files: Files) -> list[StoredFile]:
    found, after = list[StoredFile](), None
    while True:
        page = files.page(limit=200, after=after)
        found += page.rows
        if (after := page.next) is None:
            return found


@pytest.mark.timeout(900)
def test_no_reference_loses_its_bytes_and_no_bytes_are_left(
    databases: Databases, tmp_path: Path
) -> None:
    url, folder, chance = databases.fresh(tmp_path), tmp_path / "files", random.Random(11)
    app = Tenure(url, settings=Settings(auto_migrate=True))
    files = Files(app, FilesSettings(**LIVES, url=str(folder)))
    files.page()  # migrated before the processes meet
    for _ in range(0, KILLS, TOGETHER):
        crowd = [start(url, folder, chance) for _ in range(TOGETHER)]
        ends = [process.wait(120) for process in crowd]
        assert set(ends) == {-signal.SIGKILL}, "one ended by itself"
        check_bytes(files)

    for file in all_files(files):
        for kind, holder in files.holders(file.id):
            files.release(file.id, kind, holder)
    until(lambda: nothing_is_left(files), 90)
    app.close()


def check_bytes(files: Files) -> None:
    """Every file that is referred to has all of its bytes. (Nobody purges meanwhile.)"""
    for file in all_files(files):
        found = hashlib.sha256()
        for part in files.read(file):
            found.update(part)
        assert found.hexdigest() == file.sha256, "a reference without its bytes"


def nothing_is_left(files: Files) -> bool:
    """After one more pruning; what is still in its grace goes with a later one."""
    files.prune(100)
    left = [*files.blobs.stored(), *files.blobs.unfinished()]
    return not all_files(files) and not left
