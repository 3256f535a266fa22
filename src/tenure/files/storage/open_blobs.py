"""From TENURE_FILES_URL to a place for bytes. Nothing is opened here: the first use does that."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit

from tenure.core.errors import OptionError
from tenure.files.storage.blobs import Blobs
from tenure.files.storage.folder import FolderBlobs

EXAMPLES = "a folder (/var/lib/tenure/files) or s3://bucket/prefix"


def open_blobs(url: str | None, database_url: str) -> Blobs:
    """The place that is named; else a folder beside the SQLite file, or in the working folder."""
    if not url:
        return FolderBlobs(_default_folder(database_url))
    scheme, separator, _ = url.partition("://")
    if not separator:
        return FolderBlobs(Path(url))
    if scheme == "file":
        return FolderBlobs(Path(unquote(urlsplit(url).path)))
    if scheme == "s3":
        from tenure.files.storage.s3 import S3Blobs

        return S3Blobs(url)
    raise OptionError(f"TENURE_FILES_URL: files cannot be kept in {scheme}://; name {EXAMPLES}")


def _default_folder(database_url: str) -> Path:
    prefix = "sqlite:///"
    database = Path(unquote(database_url.removeprefix(prefix).partition("?")[0]))
    if database_url.startswith(prefix) and database.name:
        return database.with_name(f"{database.name}-files")
    return Path("tenure-files")
