"""`tenure files`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.databases import SqliteFiles


def tenure(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tenure", "files", *words, "--database", "sqlite:///tenure.db"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)


@pytest.fixture
def folder(tmp_path: Path, sqlite_databases: SqliteFiles) -> Path:
    sqlite_databases.empty(tmp_path)
    (tmp_path / "März.txt").write_text("hello")
    return tmp_path


def test_a_file_goes_in_and_out(folder: Path) -> None:
    put = tenure(folder, "put", "März.txt", "--tenant", "acme")
    file_id = put.stdout.strip()
    [listed] = json.loads(tenure(folder, "list", "--json").stdout)
    assert (listed["id"], listed["name"], listed["tenant"]) == (file_id, "März.txt", "acme")
    got = tenure(folder, "get", file_id, "--output", "back.txt")

    assert got.stderr == "wrote 5 bytes to back.txt\n"
    assert (folder / "back.txt").read_text() == "hello"
    assert tenure(folder, "get", file_id, "-o", "-").stdout == "hello"


def test_what_exists_is_not_overwritten(folder: Path) -> None:
    file_id = tenure(folder, "put", "März.txt").stdout.strip()
    got = tenure(folder, "get", file_id)

    assert got.returncode == 2
    assert "März.txt exists" in got.stderr


def test_an_unknown_file_is_a_clear_error(folder: Path) -> None:
    got = tenure(folder, "get", "nothing")

    assert (got.returncode, "there is no file nothing" in got.stderr) == (3, True)


def test_purge_says_what_it_did(folder: Path) -> None:
    tenure(folder, "put", "März.txt")
    done = tenure(folder, "purge", "--stray")

    assert done.returncode == 0, done.stderr
    assert "0 stray blobs deleted" in done.stderr
