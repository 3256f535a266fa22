"""The server of the API: at shutdown it ends streams and waits before open requests."""

from __future__ import annotations

import socket
from typing import Any

import uvicorn
from fastapi import FastAPI
from starlette.concurrency import run_in_threadpool

from tenure.api.kit.service import Service

PATIENCE_SECONDS = 30


class Server(uvicorn.Server):
    """uvicorn waits for open requests before it stops the app, so streams would never end."""

    def __init__(self, api: FastAPI, **options: Any) -> None:
        defaults = {"timeout_graceful_shutdown": PATIENCE_SECONDS, "server_header": False}
        super().__init__(uvicorn.Config(api, **{**defaults, **options}))
        self._service: Service = api.state.service

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End streams, answer waits and cut a tick short; then shut down as usual."""
        # Streams first: uvicorn would wait for them until its patience ends.
        await self._service.hub.close()
        if self._service.tick is not None:
            self._service.tick.stop()
        await run_in_threadpool(self._service.engine.waiters.close)
        await super().shutdown(sockets)
        self._captured_signals.clear()  # a stop signal is not a failure: do not raise it again
