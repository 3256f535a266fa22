"""Long answers: a stream ends when the credential of its caller does."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing

from starlette.requests import Request

from tenure.api.kit.identity.needs import identity_of
from tenure.core.refusals import AccessError


async def while_known(request: Request, parts: AsyncGenerator[bytes, None]) -> AsyncIterator[bytes]:
    """The parts of a stream, until the key is revoked, the token expires or the session ends.

    Checked with the parts, at most every TENURE_IDENTITY_CACHE_SECONDS.
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
