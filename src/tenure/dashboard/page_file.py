"""Static files of the page and of screens, with headers that let a browser run nothing else."""

from __future__ import annotations

import gzip
import hashlib
import mimetypes
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Self

from fastapi import Request, Response

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
# Registries of some systems have other or no types for these, and browsers run no other script.
TYPES = {".js": "text/javascript", ".svg": "image/svg+xml", ".json": "application/json"}


@dataclass(frozen=True, slots=True)
class PageFile:
    """One file, read when the API is made."""

    body: bytes
    packed: bytes | None
    media_type: str
    tag: str

    @classmethod
    def read(cls, name: str, body: bytes) -> Self:
        """With the type that its name says, and a tag of what is in it."""
        guessed = TYPES.get(PurePath(name).suffix) or mimetypes.guess_type(name)[0]
        # Weak: packed or not, it is the same file.
        tag = f'W/"{hashlib.blake2b(body, digest_size=12).hexdigest()}"'
        packed = gzip.compress(body, 9, mtime=0)
        smaller = packed if len(packed) < 0.9 * len(body) else None
        return cls(body, smaller, guessed or "application/octet-stream", tag)


def wants_page(request: Request) -> bool:
    """Whether a person opens an address: browsers accept HTML by name, and scripts rarely do."""
    return request.method in ("GET", "HEAD") and "text/html" in request.headers.get("accept", "")


def answer_with(file: PageFile, status: int = 200) -> Any:
    """A route that answers this file."""
    headers = {
        "etag": file.tag,
        "cache-control": "no-cache",
        "vary": "accept-encoding",
        "content-security-policy": POLICY,
        "cross-origin-opener-policy": "same-origin",
        "permissions-policy": "camera=(), geolocation=(), microphone=()",
    }

    async def answer(request: Request) -> Response:
        if status == 200 and file.tag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        if file.packed is not None and "gzip" in request.headers.get("accept-encoding", ""):
            packed = {**headers, "content-encoding": "gzip"}
            return Response(file.packed, status, packed, file.media_type)
        return Response(file.body, status, headers, file.media_type)

    return answer
