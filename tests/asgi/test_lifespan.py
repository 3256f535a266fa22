"""A worker in the lifespan of an ASGI app: bare, and in a real server process."""

from __future__ import annotations

import asyncio
import signal
import socket
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tenure import OptionError, RunningJob, State, Tenure, Worker
from tenure.asgi import WithWorker
from tenure.worker.settings import WorkerSettings

PROGRAM = """
from tenure import Tenure, Worker
from tenure.asgi import WithWorker

jobs = Tenure("sqlite:///{file}")

@jobs.job("greet")
async def greet(job, name: str) -> str:
    return f"Hello {{name}}"

async def page(scope, receive, send):
    await send({{"type": "http.response.start", "status": 200, "headers": []}})
    await send({{"type": "http.response.body", "body": b"up"}})

app = WithWorker(page, lambda: Worker(jobs))
"""


@pytest.fixture
def app(tmp_path: Path) -> Tenure:
    app = Tenure(f"sqlite:///{tmp_path / 'jobs.db'}")

    @app.job("greet")
    async def greet(job: RunningJob, name: str) -> str:
        return f"Hello {name}"

    return app


async def live(wrapped: WithWorker, between: Any) -> list[Any]:
    """What a server says and hears."""
    said: list[Any] = []
    events: asyncio.Queue[Any] = asyncio.Queue()
    events.put_nowait({"type": "lifespan.startup"})

    async def send(message: Any) -> None:
        said.append(message)
        if message["type"] == "lifespan.startup.complete":
            await between()
            events.put_nowait({"type": "lifespan.shutdown"})

    await wrapped({"type": "lifespan"}, events.get, send)
    return [message["type"] for message in said]


def test_jobs_run_between_startup_and_shutdown(app: Tenure) -> None:
    async def work() -> None:
        ref = await app.enqueue_async("greet", {"name": "Ada"})
        assert (await app.wait_async(ref, 20)).state is State.SUCCEEDED

    said = asyncio.run(live(WithWorker(nothing, lambda: Worker(app)), work))

    assert said == ["lifespan.startup.complete", "lifespan.shutdown.complete"]
    assert app.insight.workers() == []


async def nothing(scope: Any, receive: Any, send: Any) -> None:
    """An app."""


def test_a_worker_that_cannot_start_fails_the_startup(app: Tenure) -> None:
    settings = WorkerSettings(tick_runners=("outbox",))

    said = asyncio.run(live(WithWorker(nothing, lambda: Worker(app, settings=settings)), nothing))
    assert said == ["lifespan.startup.failed"]

    async def enter() -> None:
        async with Worker(app, settings=settings):
            raise AssertionError("it has started")

    with pytest.raises(OptionError, match="WORKER_TICK_RUNNERS names 'outbox'"):
        asyncio.run(enter())
    with pytest.raises(OptionError, match="WORKER_TICK_RUNNERS names 'outbox'"):
        Worker(app, settings=settings).__enter__()


def test_a_real_server_runs_jobs_and_ends_in_order(app: Tenure, tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(PROGRAM.format(file=tmp_path / "jobs.db"))
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen(
        [sys.executable, "-m", "uvicorn", "shop:app", "--port", str(port), "--lifespan", "on"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
    )
    try:
        ref = app.enqueue("greet", {"name": "Ada"})
        assert app.wait(ref, 20).result == "Hello Ada"
        server.send_signal(signal.SIGTERM)
        _, said = server.communicate(timeout=30)
        assert b"Application shutdown complete" in said
        assert app.insight.workers() == []
    finally:
        server.kill()
        server.wait(10)
