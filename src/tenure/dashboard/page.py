"""Serves the files of the page, with headers that let a browser run nothing else."""

from __future__ import annotations

import hashlib
import json
import mimetypes
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from fastapi import FastAPI, Request, Response

FILES = files("tenure.dashboard") / "files"
FIRST = "index.html"
SAMPLE = "sample.json"
POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    ]
)
TYPES = {".js": "text/javascript", ".svg": "image/svg+xml", ".json": "application/json"}


@dataclass(frozen=True, slots=True)
class PageFile:
    """One file, read when the API is made."""

    body: bytes
    media_type: str
    tag: str


def install_page(api: FastAPI) -> None:
    """The page at `/`, its files under `/page/`. They are the same for everybody and say nothing
    of any job, so nobody is asked who they are; whatever the page draws, the API decides.
    """
    for name, file in page_files().items():
        path = "/" if name == FIRST else f"/page/{name}"
        api.add_api_route(
            path,
            _answer_with(file),
            methods=["GET", "HEAD"],
            include_in_schema=False,
            response_class=Response,
        )


def sample_jobs() -> list[dict[str, Any]]:
    """The bodies of `POST /api/jobs` that the page's button and `tenure up --demo` add."""
    found: list[dict[str, Any]] = json.loads((FILES / SAMPLE).read_bytes())
    return found


def page_files() -> dict[str, PageFile]:
    """By name."""
    return {file.name: _read(file.name, file.read_bytes()) for file in FILES.iterdir()}


def _read(name: str, body: bytes) -> PageFile:
    suffix = name[name.rindex(".") :]
    media_type = TYPES.get(suffix) or mimetypes.guess_type(name)[0] or "application/octet-stream"
    return PageFile(body, media_type, f'"{hashlib.blake2b(body, digest_size=12).hexdigest()}"')


def _answer_with(file: PageFile) -> Any:
    headers = {
        "etag": file.tag,
        "cache-control": "no-cache",
        "content-security-policy": POLICY,
        "cross-origin-opener-policy": "same-origin",
        "permissions-policy": "camera=(), geolocation=(), microphone=()",
    }

    async def answer(request: Request) -> Response:
        if file.tag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        return Response(file.body, media_type=file.media_type, headers=headers)

    return answer
