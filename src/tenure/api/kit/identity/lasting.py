"""Answers that last: a stream goes on only as long as whoever asked for it is still known."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing

from starlette.requests import Request

from tenure.api.kit.identity.needs import identity_of
from tenure.core.refusals import (
    AccessError,
)


async def while_known(request: Request, parts: AsyncGenerator[bytes, None]) -> AsyncIterator[bytes]:
    """The parts, until the key is revoked, the token has expired or the session has ended.

    That is looked at with a part, not more often than a caller is remembered.
    """
    identity = identity_of(request)
    checked = identity.elapsed()
    async with aclosing(parts):
        async for part in parts:
            if identity.elapsed() - checked >= identity.settings.identity_cache_seconds:
                checked = identity.elapsed()
                try:
                    await identity.caller_of(request)
                except AccessError:
                    return
            yield part
