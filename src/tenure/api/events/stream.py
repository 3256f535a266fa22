"""The bytes of one client's stream."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass

from tenure.api.events.clients import AllClient, JobClient, Wanted
from tenure.api.events.frames import PING, RETRY, frame
from tenure.api.events.hub import Hub

END = frame("end")
# Frames in one write. Larger writes would fill buffers for clients that read slowly.
AT_ONCE = 32


@dataclass(frozen=True, slots=True)
class Pace:
    """How long a stream lasts, and how often an idle one sends a ping."""

    heartbeat_seconds: float
    stream_seconds: float


async def stream_all(
    hub: Hub, wanted: Wanted, last_event_id: str | None, pace: Pace
) -> AsyncGenerator[bytes, None]:
    """The stream of all jobs that are wanted."""
    client = await hub.watch_all(wanted, last_event_id)
    try:
        async for part in _parts(client, pace):
            yield part
    finally:
        hub.leave(client)


async def stream_job(hub: Hub, client: JobClient, pace: Pace) -> AsyncGenerator[bytes, None]:
    """The stream of one job, until it has ended."""
    hub.watch(client)
    try:
        async for part in _parts(client, pace):
            yield part
    finally:
        hub.leave(client)


async def _parts(client: AllClient | JobClient, pace: Pace) -> AsyncIterator[bytes]:
    deadline = time.monotonic() + pace.stream_seconds
    yield RETRY
    while not client.closed and (left := deadline - time.monotonic()) > 0:
        came = await client.news(min(pace.heartbeat_seconds, left))
        frames = client.take()
        for start in range(0, len(frames), AT_ONCE):  # what a slow client has not read stays small
            yield b"".join(frames[start : start + AT_ONCE])
        if not came and not frames:
            yield PING
        if isinstance(client, JobClient) and client.over:
            yield END
            return
