"""Processes that keep and purge files are killed at random points: nothing is lost or left."""

from __future__ import annotations

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

KILLS = 100 if os.environ.get("TENURE_CHAOS") else 6


def start(url: str, folder: Path, seed: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.files.dying", url, str(folder), str(seed)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def all_files(files: Files) -> list[StoredFile]:
    found, after = list[StoredFile](), None
    while True:
        page = files.page(limit=200, after=after)
        found += page.rows
        if (after := page.next) is None:
            return found


@pytest.mark.timeout(600)
def test_no_reference_loses_its_bytes_and_no_bytes_are_left(
    databases: Databases, tmp_path: Path
) -> None:
    url, folder, chance = databases.fresh(tmp_path), tmp_path / "files", random.Random(11)
    app = Tenure(url, settings=Settings(auto_migrate=True))
    files = Files(app, FilesSettings(**LIVES, url=str(folder)))
    files.page()  # migrated before the processes meet
    for kill in range(KILLS):
        crowd = [start(url, folder, kill * 2 + one) for one in range(2)]
        for process in crowd:
            assert process.stdout is not None
            for _ in range(chance.randrange(3, 40)):
                assert process.stdout.readline(), "it died by itself"
            process.send_signal(signal.SIGKILL)
        for process in crowd:
            process.communicate()

    for file in all_files(files):
        assert sum(map(len, files.read(file))) == file.size, "a reference without its bytes"
    for file in all_files(files):
        for kind, holder in files.holders(file.id):
            files.release(file.id, kind, holder)
    until(lambda: nothing_is_left(files), 60)
    app.close()


def nothing_is_left(files: Files) -> bool:
    """After one more pruning; what is still in its grace goes with a later one."""
    files.prune(100)
    return not all_files(files) and not list(files.blobs.stored())
