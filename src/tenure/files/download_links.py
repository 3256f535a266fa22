"""Download links of an app's files: made for one file, read back to it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from tenure.core.errors import OptionError
from tenure.core.outcome import TEN_YEARS
from tenure.core.scope import Scope
from tenure.files.errors import FileMissing
from tenure.files.links import SHORTEST_SECRET, Link, Links, shared_secret
from tenure.files.stored_file import StoredFile

if TYPE_CHECKING:
    from tenure.files.files import Files


class SignedLink(NamedTuple):
    """What follows `/files/`, and when it stops working (seconds since 1970)."""

    token: str
    expires_at: int


OF_LINK = "of this link"


class DownloadLinks:
    """`files.links`. Without a secret in the settings all processes share one in a record."""

    def __init__(self, files: Files) -> None:
        self._files = files

    @cached_property
    def _links(self) -> Links:
        given = self._files.settings.link_secret
        if given is None:
            return Links(shared_secret(self._files.app.store))
        secret = given.get_secret_value().encode()
        if len(secret) < SHORTEST_SECRET:
            raise OptionError(f"TENURE_FILES_LINK_SECRET needs at least {SHORTEST_SECRET} bytes")
        return Links(secret)

    def make(self, file: StoredFile, seconds: float | None = None) -> SignedLink:
        """Access to one file for a time, for whoever has the link."""
        lasts = self._files.settings.link_seconds if seconds is None else seconds
        if not 0 < lasts <= TEN_YEARS:
            raise OptionError("seconds must be greater than 0, and at most ten years")
        expires_at = int(self._now() + lasts)
        return SignedLink(self._links.sign(Link(file.id, file.tenant, expires_at)), expires_at)

    def file(self, token: str) -> StoredFile:
        """The file of a link; FileMissing for a forged or expired one as for an unknown."""
        link = self._links.read(token, self._now())
        if link is None:
            raise FileMissing(OF_LINK)
        try:
            return self._files.get(link.file_id, Scope(link.tenant))
        except FileMissing:
            raise FileMissing(OF_LINK) from None

    def _now(self) -> float:
        return float(self._files.app.store.now().timestamp())
