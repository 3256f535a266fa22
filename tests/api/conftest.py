"""A real server on loopback: uvicorn in a thread, httpx as its client."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from tenure import RunningJob, Tenure
from tenure.access import Keys, Permission
from tenure.api import ApiSettings, create_api
from tenure.api.server import Server
from tenure.features.schedules import Schedules
from tests.support.until import until


@dataclass
class Served:
    """An engine and a client of its API."""

    engine: Tenure
    api: FastAPI
    client: httpx.Client
    url: str

    def key(self, permission: str = "read", **whose: Any) -> dict[str, str]:
        """Headers of a new key's holder."""
        text, _ = Keys(self.engine).create("test", Permission(permission), actor="test", **whose)
        return {"authorization": f"Bearer {text}"}

    def get(self, path: str, **more: Any) -> httpx.Response:
        return self.client.get(path, **more)

    def post(self, path: str, json: Any = None, **more: Any) -> httpx.Response:
        return self.client.post(path, json=json, **more)


Serve = Callable[..., Served]


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Tenure]:
    made = Tenure(f"sqlite:///{tmp_path / 'jobs.db'}")
    yield made
    made.close()


def add_report(engine: Tenure) -> None:
    """A handler with a schedule."""

    @Schedules.of(engine).every(hours=1, name="hourly")
    @engine.job("report")
    def report(job: RunningJob, days: int = 1) -> None:
        if days < 0:
            raise ValueError("no such days")


@pytest.fixture
def serve(engine: Tenure) -> Iterator[Serve]:
    """`serve(body_limit_bytes=...)`: the engine behind HTTP."""
    with ExitStack() as stack:

        def start(*, worker: Any = None, **settings: Any) -> Served:
            api = create_api(engine, settings=ApiSettings(**settings), worker=worker)
            url = stack.enter_context(listening(api))
            client = stack.enter_context(httpx.Client(base_url=url, timeout=20))
            made = Served(engine, api, client, url)
            client.headers.update(made.key("admin"))
            return made

        yield start


@pytest.fixture
def served(serve: Serve) -> Served:
    """With default settings."""
    return serve()


@contextmanager
def listening(api: FastAPI) -> Iterator[str]:
    """The address of a server that is there as long as the block."""
    server = Server(api, port=0, log_level="warning")
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        until(lambda: server.started)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(20)
        assert not thread.is_alive()
