"""A program that keeps, refers to and purges files until it is killed.

`python -m tests.files.dying URL FOLDER SEED`

It prints a line for each step, so that the test can kill it at any of them.
"""

from __future__ import annotations

import random
import sys
from contextlib import suppress
from typing import Any

from tenure import Settings, Tenure
from tenure.files import Files, FilesSettings
from tenure.files.errors import FileMissing, FileTooLate

STEPS = 10_000
LIVES: dict[str, Any] = {"keep_seconds": 0.05, "grace_seconds": 0.05, "pending_seconds": 0.5}
"""So short that everything happens while the program runs."""


def main() -> None:
    url, folder, seed = sys.argv[1:]
    app = Tenure(url, settings=Settings(auto_migrate=True))
    files = Files(app, FilesSettings(**LIVES, url=folder))
    chance, known = random.Random(seed), list[str]()
    for step in range(STEPS):
        data = str(chance.randrange(20)).encode() * 5_000  # few contents: writers meet
        match chance.randrange(5):
            case 0 | 1:
                with suppress(FileTooLate):
                    known.append(files.put(data, name="a.txt").id)
            case 2 if known:
                with suppress(FileMissing):
                    files.refer(chance.choice(known), "record", str(step))
            case 3 if known:
                for kind, holder in files.holders(known[-1]):
                    files.release(known[-1], kind, holder)
            case _:
                files.prune(20)
        sys.stdout.write(f"{step}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
