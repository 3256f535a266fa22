"""`/api/files` and `/api/uploads`: keep, list, download, link, and uploads by tus 1.0."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse
from starlette.concurrency import run_in_threadpool

from tenure.access.caller import Caller
from tenure.api.kit import Engine, Reader, Writer, is_head, may, seal, streamed, unseal
from tenure.app import Tenure
from tenure.files import tus
from tenure.files.errors import FileNameError
from tenure.files.files import Files
from tenure.files.form import file_in
from tenure.files.names import content_disposition
from tenure.files.pulled import CutShort, receive_into
from tenure.files.ranges import requested_range
from tenure.files.shapes import (
    FileShape,
    FilesShape,
    LinkInput,
    LinkShape,
    UploadShape,
    file_shape,
    upload_shape,
)
from tenure.files.stored_file import StoredFile
from tenure.files.uploads import Upload

FORM = "multipart/form-data"
INLINE = ("application/pdf", "image/png", "image/jpeg", "image/webp", "text/plain")
"""Media types that browsers show and that cannot run scripts of their own."""

BINARY = {"*/*": {"schema": {"type": "string", "format": "binary"}}}
BYTES: dict[int | str, dict[str, Any]] = {
    200: {"description": "The bytes, in the file's own media type", "content": BINARY},
    206: {"description": "The range that was asked for", "content": BINARY},
    304: {"description": "The client has this content already"},
}

files = APIRouter(prefix="/api/files", tags=["files"])
uploads = APIRouter(prefix="/api/uploads", tags=["files"])
links = APIRouter(prefix="/files", tags=["files"])
FileId = Annotated[str, Path(min_length=1, max_length=64, pattern=r"^[0-9a-z]+$")]


def _largest(app: Tenure) -> int:
    # The parts of a form around the file are small; the file itself is measured again.
    return Files.of(app).settings.max_bytes + 64 * 1024


def _whose(caller: Caller) -> dict[str, Any]:
    return {"tenant": caller.tenant or "", "owner": caller.owner}


@files.post("", operation_id="putFile", status_code=201, responses=may(413))
@streamed(_largest)
async def put_file(
    request: Request,
    caller: Writer,
    engine: Engine,
    name: Annotated[str | None, Query(max_length=255)] = None,
    sha256: Annotated[str | None, Query(pattern="^[0-9a-fA-F]{64}$")] = None,
) -> FileShape:
    """Keep the body, or the first file of a form. `name` is needed where there is no form."""
    room, given = Files.of(engine), request.headers.get("content-type", "")
    if given.lower().startswith(FORM):

        def write(body: Any) -> StoredFile:
            form = file_in(given, body)
            return room.put(
                form.data, name=name or form.name, media_type=form.media_type, sha256=sha256,
                **_whose(caller),
            )  # fmt: skip
    else:
        if name is None:
            raise FileNameError("say the file's name: POST /api/files?name=invoice.pdf")

        def write(body: Any) -> StoredFile:
            return room.put(
                body, name=name, media_type=given or None, sha256=sha256, **_whose(caller)
            )

    try:
        return file_shape(await receive_into(request, write))
    except CutShort:  # there is nobody to answer, and nothing went wrong here
        return Response(status_code=408)  # type: ignore[return-value]


@files.get("", operation_id="listFiles", responses=may(400))
def list_files(
    caller: Reader,
    engine: Engine,
    cursor: str | None = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> FilesShape:
    """Newest first."""
    after = None if cursor is None else unseal(cursor, "files")
    page = Files.of(engine).page(caller.scope, limit=limit, after=after)
    following = None if page.next is None else seal(page.next, "files")
    return FilesShape(items=[file_shape(file) for file in page.rows], next=following)


@files.get("/{fileId}", operation_id="downloadFile", responses={**BYTES, **may(404, 416)})
def download(
    file_id: Annotated[FileId, Path(alias="fileId")],
    request: Request,
    caller: Reader,
    engine: Engine,
) -> Response:
    """Its bytes; a range of them where the request names one."""
    room = Files.of(engine)
    return _bytes_of(room, room.get(file_id, caller.scope), request)


@files.get("/{fileId}/about", operation_id="getFile", responses=may(404))
def about(
    file_id: Annotated[FileId, Path(alias="fileId")], caller: Reader, engine: Engine
) -> FileShape:
    """Name, size, hash and owner, without the bytes."""
    return file_shape(Files.of(engine).get(file_id, caller.scope))


@files.delete("/{fileId}", operation_id="deleteFile", status_code=204, responses=may(404, 409))
def delete(
    file_id: Annotated[FileId, Path(alias="fileId")], caller: Writer, engine: Engine
) -> None:
    """Delete a file that nobody refers to."""
    Files.of(engine).delete(file_id, caller.scope)


@files.post("/{fileId}/link", operation_id="linkFile", status_code=201, responses=may(404))
def link(
    file_id: Annotated[FileId, Path(alias="fileId")],
    asked: LinkInput,
    caller: Writer,
    engine: Engine,
) -> LinkShape:
    """A link that lets whoever has it download the file for a time."""
    room = Files.of(engine)
    made = room.links.make(room.get(file_id, caller.scope), asked.seconds)
    until = datetime.fromtimestamp(made.expires_at, UTC)
    return LinkShape(path=f"/files/{made.token}", expires_at=until)


@links.get("/{token}", operation_id="downloadByLink", responses={**BYTES, **may(404, 416)})
def by_link(token: Annotated[str, Path()], request: Request, engine: Engine) -> Response:
    """Download by a signed link. A forged or expired one is answered like an unknown one."""
    room = Files.of(engine)
    return _bytes_of(room, room.links.file(token), request)


def _bytes_of(room: Files, file: StoredFile, request: Request) -> Response:
    tag = f'"{file.sha256}"'
    headers = {
        "etag": tag,
        "accept-ranges": "bytes",
        "content-disposition": content_disposition(file.name, inline=file.media_type in INLINE),
        "cache-control": "private, no-cache",
        "x-content-type-options": "nosniff",
    }
    known = request.headers.get("if-none-match", "")
    if tag in known or known.strip() == "*":
        return Response(status_code=304, headers=headers)
    asked = request.headers.get("range")
    if request.headers.get("if-range", tag) != tag:
        asked = None
    found = requested_range(asked, file.size)
    start, end = found or (0, file.size)
    headers["content-length"] = str(end - start)
    if found:
        headers["content-range"] = f"bytes {start}-{end - 1}/{file.size}"
    status = 206 if found else 200
    if is_head(request):
        return Response(status_code=status, headers=headers, media_type=file.media_type)
    return StreamingResponse(
        room.read(file, start, end), status, headers=headers, media_type=file.media_type
    )


@uploads.options("", operation_id="describeUploads", status_code=204, include_in_schema=False)
def describe(caller: Reader, engine: Engine) -> Response:
    """What this server can do of tus."""
    largest = str(Files.of(engine).settings.max_bytes)
    return _answer(
        204,
        {
            "tus-version": tus.VERSION,
            "tus-extension": tus.EXTENSIONS,
            "tus-checksum-algorithm": ",".join(tus.ALGORITHMS),
            "tus-max-size": largest,
        },
    )


@uploads.post("", operation_id="beginUpload", status_code=201, responses=may(400, 412, 413))
def begin(request: Request, caller: Writer, engine: Engine) -> Response:
    """Begin an upload of `Upload-Length` bytes; `Upload-Metadata` has filename and filetype."""
    tus.check_version(request.headers.get("tus-resumable"))
    if "upload-defer-length" in request.headers:
        raise tus.TusError("Upload-Defer-Length is not supported; send Upload-Length")
    length = tus.whole_number("Upload-Length", request.headers.get("upload-length"))
    told = tus.metadata(request.headers.get("upload-metadata"))
    upload = Files.of(engine).uploads.begin(
        name=told.get("filename") or told.get("name") or "upload",
        media_type=told.get("filetype") or told.get("type") or "application/octet-stream",
        length=length,
        **_whose(caller),
    )
    return _progress(201, upload, {"location": f"/api/uploads/{upload.id}"})


@uploads.get("/{uploadId}", operation_id="getUpload", responses=may(404))
def progress(
    upload_id: Annotated[FileId, Path(alias="uploadId")],
    caller: Reader,
    engine: Engine,
) -> UploadShape:
    """How far it is: as headers (also for HEAD) and as JSON."""
    upload = Files.of(engine).uploads.get(upload_id, caller.scope)
    answer = JSONResponse(upload_shape(upload).model_dump(mode="json", by_alias=True))
    answer.headers.update(_headers(upload))
    return answer  # type: ignore[return-value]


@uploads.patch(
    "/{uploadId}",
    operation_id="appendToUpload",
    status_code=204,
    responses=may(400, 404, 409, 412, 413, 423, 460),
)
@streamed(_largest)
async def append(
    upload_id: Annotated[FileId, Path(alias="uploadId")],
    request: Request,
    caller: Writer,
    engine: Engine,
) -> Response:
    """Append the body at `Upload-Offset`. What arrived before a broken connection is kept."""
    room = Files.of(engine).uploads
    # Before any header is looked at: nobody learns which uploads of others there are.
    await run_in_threadpool(room.get, upload_id, caller.scope)
    tus.check_version(request.headers.get("tus-resumable"))
    if request.headers.get("content-type") != tus.OCTETS:
        raise tus.TusMediaError(request.headers.get("content-type"))
    offset = tus.whole_number("Upload-Offset", request.headers.get("upload-offset"))
    checksum = tus.checksum(request.headers.get("upload-checksum"))
    try:
        upload = await receive_into(
            request,
            lambda body: room.append(
                upload_id, offset, body, scope=caller.scope, checksum=checksum
            ),
        )
    except CutShort:
        upload = await run_in_threadpool(room.get, upload_id, caller.scope)
    return _progress(204, upload)


@uploads.delete("/{uploadId}", operation_id="removeUpload", status_code=204, responses=may(404))
def remove(
    upload_id: Annotated[FileId, Path(alias="uploadId")], caller: Writer, engine: Engine
) -> Response:
    """Forget an upload and its bytes; the file that it has become stays."""
    Files.of(engine).uploads.remove(upload_id, caller.scope)
    return _answer(204, {})


def _progress(status: int, upload: Upload, more: dict[str, str] | None = None) -> Response:
    return _answer(status, {**_headers(upload), **(more or {})})


def _headers(upload: Upload) -> dict[str, str]:
    headers = {
        "upload-offset": str(upload.received),
        "upload-length": str(upload.length),
        "upload-expires": upload.expires_at.strftime("%a, %d %b %Y %H:%M:%S GMT"),
        "cache-control": "no-store",
        "tus-resumable": tus.VERSION,
    }
    if upload.file_id is not None:
        headers["tenure-file-id"] = upload.file_id
    return headers


def _answer(status: int, headers: dict[str, str]) -> Response:
    return Response(status_code=status, headers={"tus-resumable": tus.VERSION, **headers})
