"""A stream ends when its caller is no longer known."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from fastapi import Request
from fastapi.responses import StreamingResponse

from tenure import Tenure
from tenure.access import IdentitySettings, Keys, Permission, login_link
from tenure.api.kit.identity import Reader, while_known
from tests.api.conftest import Serve
from tests.api.identity.conftest import small_api
from tests.api.identity.server import serve as serve_app

PART = b"x" * 4_096


@contextmanager
def streaming(engine: Tenure, **settings: Any) -> Any:
    """A client of a stream without end, and the news that its generator was closed."""
    api = small_api(engine, IdentitySettings(**settings))
    closed = threading.Event()

    async def parts() -> AsyncGenerator[bytes, None]:
        try:
            while True:
                yield PART
                await asyncio.sleep(0)  # a breath for the loop, which hears of clients that leave
        finally:
            closed.set()

    @api.get("/stream")
    async def stream(request: Request, caller: Reader) -> StreamingResponse:
        return StreamingResponse(while_known(request, parts()))

    with serve_app(api) as address, httpx.Client(base_url=address, timeout=30) as client:
        yield client, closed


def test_a_revoked_key_ends_its_stream(engine: Tenure) -> None:
    text, key = Keys(engine).create("ci", Permission.READ, actor="tester")
    headers = {"x-api-key": text}

    with (
        streaming(engine, identity_cache_seconds=0) as (client, closed),
        client.stream("GET", "/stream", headers=headers) as answer,
    ):
        parts = answer.iter_raw()
        next(parts)
        Keys(engine).revoke(key.id, actor="tester")
        for _ in parts:  # what was under way; then the stream is over
            pass
        assert closed.wait(30)


def test_logout_ends_the_sessions_streams(engine: Tenure) -> None:
    with streaming(engine, identity_cache_seconds=0) as (client, closed):
        client.get(login_link(engine, str(client.base_url)))
        csrf = {"x-csrf-token": client.get("/session").json()["csrfToken"]}
        with client.stream("GET", "/stream") as answer:
            parts = answer.iter_raw()
            next(parts)
            with httpx.Client(base_url=client.base_url, cookies=client.cookies) as other:
                assert other.post("/logout", headers=csrf).status_code == 204
            for _ in parts:
                pass
            assert closed.wait(30)


def test_a_client_that_leaves_closes_what_it_listened_to(engine: Tenure) -> None:
    text, _ = Keys(engine).create("ci", Permission.READ, actor="tester")

    with streaming(engine, identity_cache_seconds=60) as (client, closed):
        with client.stream("GET", "/stream", headers={"x-api-key": text}) as answer:
            next(answer.iter_raw())
        assert closed.wait(30)


@pytest.mark.parametrize("path", ["/api/events", "/api/jobs/{}/events"])
def test_events_end_with_their_callers_key(
    engine: Tenure, serve: Serve, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.setenv("TENURE_IDENTITY_CACHE_SECONDS", "0")
    served = serve(heartbeat_seconds=0.1)
    job_id = engine.enqueue("a").id
    text, key = Keys(engine).create("ci", Permission.READ, actor="tester")

    url = path.format(job_id)
    with served.client.stream("GET", url, headers={"authorization": f"Bearer {text}"}) as answer:
        lines = answer.iter_lines()
        next(lines)
        Keys(engine).revoke(key.id, actor="tester")
        for _ in lines:
            pass
    assert served.get(url, headers={"authorization": f"Bearer {text}"}).status_code == 401
