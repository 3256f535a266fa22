"""Routes of the guestbook."""

from __future__ import annotations

from fastapi import APIRouter

from tenure.api.kit import Engine, Reader, Shape, may
from tests.features.sample.feature import Guestbook

router = APIRouter(prefix="/api/guestbook", tags=["guestbook"])


class EntryShape(Shape):
    """An entry."""

    id: int
    name: str
    words: str


@router.get("", operation_id="listEntries")
def list_entries(caller: Reader, engine: Engine) -> list[EntryShape]:
    """Newest first."""
    return [
        EntryShape(id=one.id, name=one.name, words=one.words)
        for one in Guestbook.of(engine).entries()
    ]


@router.get("/{id}", operation_id="getEntry", responses=may(404))
def get_entry(id: int, caller: Reader, engine: Engine) -> EntryShape:
    """One entry."""
    one = Guestbook.of(engine).entry(id)
    return EntryShape(id=one.id, name=one.name, words=one.words)
