"""Static files of the page and of screens, with headers that let a browser run nothing else."""

from __future__ import annotations

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
    media_type: str
    tag: str

    @classmethod
    def read(cls, name: str, body: bytes) -> Self:
        """With the type that its name says, and a tag of what is in it."""
        guessed = TYPES.get(PurePath(name).suffix) or mimetypes.guess_type(name)[0]
        tag = f'"{hashlib.blake2b(body, digest_size=12).hexdigest()}"'
        return cls(body, guessed or "application/octet-stream", tag)


def answer_with(file: PageFile) -> Any:
    """A route that answers this file."""
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
