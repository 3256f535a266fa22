"""A program that keeps, uploads, refers to and purges files, and dies at any of its calls.

`python -m tests.files.dying URL FOLDER SEED CALLS`

It kills itself with SIGKILL at the so many-th call of a function, of Python or C: between any two
statements of the database and any two operations on a file, with the same seed at the same place.
"""

from __future__ import annotations

import os
import random
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from typing import Any

from tenure import Settings, Tenure
from tenure.files import Files, FilesSettings, uploads
from tenure.files.errors import FileMissing, FileTooLate
from tenure.files.tus import OffsetConflict, UploadLocked, UploadMissing

LIVES: dict[str, Any] = {"keep_seconds": 0.05, "grace_seconds": 0.05, "pending_seconds": 0.5}
"""So short that everything happens while the program runs."""
LENGTH = 20_000


class Life:
    """What one process does, chosen by chance."""

    def __init__(self, files: Files, chance: random.Random) -> None:
        self._files, self._chance = files, chance
        self._known: list[str] = []

    def step(self, number: int) -> None:
        """One of: keep bytes, upload in parts, refer, release, purge."""
        steps: list[Callable[[int], None]] = [
            self._put, self._upload, self._refer, self._release, self._prune,
        ]  # fmt: skip
        with suppress(FileMissing, FileTooLate, UploadMissing, UploadLocked, OffsetConflict):
            self._chance.choice(steps)(number)

    def _data(self) -> bytes:
        """Few contents, so that writers meet."""
        return bytes([65 + self._chance.randrange(20)]) * LENGTH

    def _put(self, number: int) -> None:
        self._known.append(self._files.put(self._data(), name="a.txt").id)

    def _upload(self, number: int) -> None:
        """As three requests do; sometimes the client never comes back."""
        data, room = self._data(), self._files.uploads
        upload = room.begin(name="b.txt", media_type="text/plain", length=LENGTH)
        for start in range(0, LENGTH, LENGTH // 3 + 1)[: self._chance.randrange(1, 5)]:
            upload = room.append(upload.id, start, [data[start : start + LENGTH // 3 + 1]])
        if upload.file_id is not None:
            self._known.append(upload.file_id)

    def _refer(self, number: int) -> None:
        if self._known:
            self._files.refer(self._chance.choice(self._known), "record", str(number))

    def _release(self, number: int) -> None:
        if self._known:
            for kind, holder in self._files.holders(self._known[-1]):
                self._files.release(self._known[-1], kind, holder)

    def _prune(self, number: int) -> None:
        self._files.prune(20)


def die_after(calls: int) -> None:
    """Count every call from here on, and end at the last of them without any farewell."""
    left = calls

    def counting(frame: object, event: str, argument: object) -> None:
        nonlocal left
        if event in ("call", "c_call"):
            left -= 1
            if left <= 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.setprofile(counting)


def main() -> None:
    """Until it dies."""
    url, folder, seed, calls = sys.argv[1:]
    uploads.LOCK_SECONDS = 1  # else the uploads of the dead stay for a minute
    app = Tenure(url, settings=Settings(auto_migrate=True))
    life = Life(Files(app, FilesSettings(**LIVES, url=folder)), random.Random(seed))
    life.step(0)  # opens the database and imports what is imported late
    die_after(int(calls))
    for number in count(1):
        life.step(number)


if __name__ == "__main__":
    main()
