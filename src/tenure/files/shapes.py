"""Files and uploads as they go out."""

from __future__ import annotations

from pydantic import Field

from tenure.api.kit import Input, Moment, Shape
from tenure.files.stored_file import StoredFile
from tenure.files.uploads import Upload


class FileShape(Shape):
    """A file without its bytes."""

    id: str
    name: str
    media_type: str
    size: int
    sha256: str
    tenant: str
    user_id: str | None
    created_at: Moment
    expires_at: Moment = Field(description="When it may be deleted if nobody refers to it.")


class FilesShape(Shape):
    """A page of files."""

    items: list[FileShape]
    next: str | None


class LinkInput(Input):
    """For how long a link can be used."""

    seconds: float | None = Field(default=None, gt=0, le=7 * 86_400, examples=[600])


class LinkShape(Shape):
    """A link that needs no key."""

    path: str
    expires_at: Moment


class UploadShape(Shape):
    """How far an upload is."""

    id: str
    length: int
    received: int
    expires_at: Moment
    file_id: str | None


def file_shape(file: StoredFile) -> FileShape:
    """One file."""
    return FileShape(
        id=file.id,
        name=file.name,
        media_type=file.media_type,
        size=file.size,
        sha256=file.sha256,
        tenant=file.tenant,
        user_id=file.owner,
        created_at=file.created_at,
        expires_at=file.expires_at,
    )


def upload_shape(upload: Upload) -> UploadShape:
    """One upload."""
    return UploadShape(
        id=upload.id,
        length=upload.length,
        received=upload.received,
        expires_at=upload.expires_at,
        file_id=upload.file_id,
    )
